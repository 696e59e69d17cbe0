#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Registers a device, sends two messages to its user, reads them, and prints their delivery status. See README.md.
set -euo pipefail
shopt -s inherit_errexit

die() {
    echo "$*" >&2
    exit 1
}

# call METHOD PATH AUTHORIZATION [BODY]: prints the answer. What follows the header option stays out of the list of processes.
call() {
    local answer status body=(${4+--json "$4"})
    answer=$(curl --silent --show-error --max-time 30 --request "$1" --header @<(printf 'Authorization: %s' "$3") \
        --write-out '\n%{http_code}' ${body[@]+"${body[@]}"} "$APP_BACKEND_URL$2") || exit 1
    status=${answer##*$'\n'} answer=${answer%$'\n'*}
    case $status in
        2??) printf '%s' "$answer" ;;
        # An answer of application/problem+json names the reason, and the field at fault.
        *) die "$status: $(jq --raw-output '.detail + (if .field then " (\(.field))" else "" end)' <<< "$answer" 2> /dev/null \
            || echo "the answer gives no reason")" ;;
    esac
}

run() {
    local log_in made token device sent inbox number outcomes
    log_in="Basic $(printf '%s:%s' "$APP_BACKEND_USER" "$APP_BACKEND_PASSWORD" | base64 --wrap=0)"
    # An app keeps this token instead of the password.
    made=$(call POST /api/tokens "$log_in" '{"Scopes": ["register", "send", "read"], "ExpiresInDays": 1}')
    token="Bearer $(jq --raw-output .Token <<< "$made")"
    # shellcheck disable=SC2064 # these are the values to end with
    trap "call DELETE '/api/tokens/$(jq --raw-output .Id <<< "$made")' '$log_in'" EXIT

    # An app makes this id once and keeps it. The handle comes from the device's push service.
    device='{"Platform": "fcm", "Handle": "token-of-example-shell", "Tags": []}'
    call PUT /api/register/example-shell "$token" "$device"
    sent=$(call POST /api/notifications "$token" \
        "$(jq --null-input '{To: env.APP_BACKEND_USER, Title: "Lunch", Body: "At noon"}')" | jq --raw-output .MessageId)
    call POST /api/notifications "$token" \
        "$(jq --null-input '{To: env.APP_BACKEND_USER, Body: "The code is 4711", Secure: true}')" > /dev/null

    inbox=$(call GET '/api/inbox?limit=2' "$token")
    jq --raw-output '.Messages[] | select(.Secure | not) | "\(.From): \([.Title, .Body] | map(values) | join(", "))"' <<< "$inbox"
    for number in $(jq '.Messages[] | select(.Secure).Id' <<< "$inbox"); do
        # Only the id travelled to the device. Fetching the text marks the message as read.
        call GET "/api/notifications/$number" "$token" | jq --raw-output '"\(.From): \(.Payload)"'
    done

    for _ in {1..30}; do
        outcomes=$(call GET "/api/notifications/$sent/timeline" "$token")
        jq --exit-status 'any(.Outcomes[]; .State == ("Enqueued", "Processing"))' <<< "$outcomes" > /dev/null || break
        sleep 1
    done
    jq --raw-output '.Outcomes[] | "\(.Platform): \(.State)" + ([.Counts | to_entries[] | ", \(.key) \(.value)"] | add // "")' \
        <<< "$outcomes"
}

# verify SECRET ID TIMESTAMP SIGNATURES < BODY: fails for an event that this service has not signed just now.
# The key is visible to other users of this host while openssl runs.
verify() {
    local key wanted
    key=$(base64 --decode <<< "${1#whsec_}" | od -An -v -tx1 | tr -d ' \n')
    wanted=v1,$({ printf '%s.%s.' "$2" "$3" && cat; } | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
    [[ " $4 " == *" $wanted "* ]] || die "the signature is wrong"
    (($(date +%s) - $3 <= 300 && $3 - $(date +%s) <= 300)) \
        || die "the signature is right, and the time is more than five minutes off"
    echo "the signature is right"
}

if [ "${1:-}" = verify ]; then
    verify "${APP_BACKEND_WEBHOOK_SECRET:?Please set it}" "$2" "$3" "$4"
else
    : "${APP_BACKEND_URL:?Please set it}" "${APP_BACKEND_USER:?Please set it}" "${APP_BACKEND_PASSWORD:?Please set it}"
    run
fi
