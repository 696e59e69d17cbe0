<?php
// SPDX-License-Identifier: Apache-2.0
// Registers a device, sends two messages to its user, reads them, and prints their delivery status. See README.md.
declare(strict_types=1);

function setting(string $name): string
{
    return getenv($name) ?: throw new RuntimeException("Please set $name.");
}

function call(string $method, string $path, string $authorization, ?array $body = null): mixed
{
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => ["Authorization: $authorization", 'Content-Type: application/json'],
        'content' => $body === null ? '' : json_encode($body),
        'timeout' => 30,
        'ignore_errors' => true,
    ]]);
    $answer = @file_get_contents(setting('APP_BACKEND_URL') . $path, false, $context);
    if ($answer === false) {
        throw new RuntimeException(error_get_last()['message'] ?? 'no answer');
    }
    // Such as "HTTP/1.1 200 OK".
    $status = (int) explode(' ', $http_response_header[0])[1];
    $json = json_decode($answer, true);
    if ($status < 200 || $status > 299) {
        // An answer of application/problem+json names the reason, and the field at fault.
        $field = isset($json['field']) ? " ({$json['field']})" : '';
        throw new RuntimeException("$status: " . ($json['detail'] ?? 'the answer gives no reason') . $field);
    }
    return $json;
}

function text(array $message, string $token): string
{
    if (!$message['Secure']) {
        return implode(', ', array_filter([$message['Title'] ?? '', $message['Body'] ?? '']));
    }
    // Only the id travelled to the device. Fetching the text marks the message as read.
    return call('GET', "/api/notifications/{$message['Id']}", $token)['Payload'];
}

function run(string $user, string $password): void
{
    $logIn = 'Basic ' . base64_encode("$user:$password");
    // An app keeps this token instead of the password.
    $made = call('POST', '/api/tokens', $logIn, ['Scopes' => ['register', 'send', 'read'], 'ExpiresInDays' => 1]);
    $token = "Bearer {$made['Token']}";
    try {
        // An app makes this id once and keeps it. The handle comes from the device's push service.
        $device = ['Platform' => 'fcm', 'Handle' => 'token-of-example-php', 'Tags' => []];
        call('PUT', '/api/register/example-php', $token, $device);
        $sent = call('POST', '/api/notifications', $token, ['To' => $user, 'Title' => 'Lunch', 'Body' => 'At noon']);
        call('POST', '/api/notifications', $token, ['To' => $user, 'Body' => 'The code is 4711', 'Secure' => true]);

        foreach (call('GET', '/api/inbox?limit=2', $token)['Messages'] as $message) {
            echo "{$message['From']}: ", text($message, $token), "\n";
        }

        for ($tries = 0; $tries < 30; $tries++) {
            $outcomes = call('GET', "/api/notifications/{$sent['MessageId']}/timeline", $token)['Outcomes'];
            if (!array_intersect(array_column($outcomes, 'State'), ['Enqueued', 'Processing'])) {
                break;
            }
            sleep(1);
        }
        foreach ($outcomes as $outcome) {
            $counts = array_map(fn ($name, $count) => ", $name $count", array_keys($outcome['Counts']), $outcome['Counts']);
            echo "{$outcome['Platform']}: {$outcome['State']}", implode($counts), "\n";
        }
    } finally {
        call('DELETE', "/api/tokens/{$made['Id']}", $logIn);
    }
}

/** Throws for an event that this service has not signed just now. */
function verify(string $secret, string $id, string $timestamp, string $signatures, string $body): void
{
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $wanted = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    if (!array_filter(explode(' ', $signatures), fn ($one) => hash_equals($wanted, $one))) {
        throw new RuntimeException('the signature is wrong');
    }
    if (abs(time() - (int) $timestamp) > 300) {
        throw new RuntimeException('the signature is right, and the time is more than five minutes off');
    }
}

try {
    if (($argv[1] ?? '') === 'verify') {
        verify(setting('APP_BACKEND_WEBHOOK_SECRET'), $argv[2], $argv[3], $argv[4], stream_get_contents(STDIN));
        echo "the signature is right\n";
    } else {
        run(setting('APP_BACKEND_USER'), setting('APP_BACKEND_PASSWORD'));
    }
} catch (RuntimeException $error) {
    fwrite(STDERR, $error->getMessage() . "\n");
    exit(1);
}
