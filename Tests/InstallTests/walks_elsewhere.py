# SPDX-License-Identifier: Apache-2.0
"""The pages, and the commands of the other ones, that no walk types, and why."""

BY_PACKAGED = "packaged.py and releases.py run that script for the other tests"
NO_OTHER_HOST = "it needs a second host, and ssh to it"
NO_CLOCK = "the clock of a booted system of the tests is the machine's"
NO_AUTHORITY = "it needs the internet: a certificate authority that calls back"
SHARED = "no test types it: WireTests' HostingTests lay out that home and start these programs by means of their own"
SIGNING = "no test types it: test_repository.py makes and exports a key by means of its own"
REGISTRY = "script/release builds both images by that file, in test_release.py; here no registry has the base"
BY_CURL = "Tests/OpenAPI plays the commands of curl of all pages, and the roles that these need"
MADE = "script/reference makes it of sources and of the manual, which have their own tests"
NO_APPLE = "it needs Apple's service; Tests/Doubles calls a double of it"

NO_SERVICE = "it needs the other service; CommandsTests and WireTests import files of its form"

PAGES_ELSEWHERE = {
    "docs/start/first-app.md": BY_CURL,
    "docs/reference/commands.md": MADE,
    "docs/reference/findings.md": MADE,
    "docs/reference/identity-tokens.md": "it names commands, and shows none to type",
    "docs/reference/api-examples.md": BY_CURL,
    "docs/reference/http-api.md": BY_CURL,
    "docs/build/delivery-status.md": BY_CURL,
    "docs/build/devices.md": BY_CURL,
    "docs/build/inbox.md": BY_CURL,
    "docs/build/login-and-tokens.md": BY_CURL,
    "docs/build/retry-safely.md": BY_CURL,
    "docs/build/secure-messages.md": BY_CURL,
    "docs/reference/routes.md": MADE,
    "docs/reference/settings.md": MADE,
    "docs/reference/store.md": "it shows records, and no command",
    "docs/maintain/install-tests.md": "script/test-install is what runs this",
    "docs/maintain/store-tests.md": "script/torture is a test itself",
    "docs/build/receive-windows-maui.md": BY_CURL,
    "docs/build/schedule.md": BY_CURL,
    "docs/build/send.md": BY_CURL,
    "docs/build/server-examples.md": "script/test-examples runs its programs, each with such a token",
    "docs/operate/single-sign-on.md": "Tests/Doubles plays it, beside a provider of identities",
    "docs/maintain/releasing.md": "test_release.py makes a release, and verifies it",
    "docs/start/try-on-a-phone.md": "test_run.py starts script/run --lan",
    "docs/build/webhooks.md": "Tests/Doubles plays it, beside a receiver",
}
ELSEWHERE = {
    "script/run": "test_run.py starts it",
    "script/test": "it is what runs this",
    "script/package": BY_PACKAGED,
    "script/package --program FILE": BY_PACKAGED,
    "apt install ./.build/package/app-backend_0.1.0_amd64.deb": "README's, with another path",
    "curl --cert alice.pem https://push.example.com/api/register": "Tests/OpenAPI plays that page with a client certificate",
    "apt install certbot": NO_AUTHORITY,
    "certbot certonly --webroot -w /var/www/html -d NAME --deploy-hook 'systemctl reload nginx'": NO_AUTHORITY,
    "tar cannot unpack the archive.": "the beginning of an error",
    "timedatectl set-ntp true": NO_CLOCK,
    "app-backend user change bob --role editor": BY_CURL,
    """curl -u bob https://push.example.com/api/notifications --json """
    """'{"To": "tag:news", "Body": "The canteen is closed today."}'""": BY_CURL,
    """curl -u bob -X PUT https://push.example.com/api/register/my-phone --json '"""
    """{"Platform": "fcm", "Handle": "dGVzdA:APA91b"}'""": BY_CURL,
    """curl -u alice -X PUT https://push.example.com/api/register/my-phone --json '"""
    """{"Platform": "fcm", "Handle": "dGVzdA:APA91b", "Tags": ["news-sport"]}'""": BY_CURL,
    'psql --csv -c "SELECT user_name AS user, platform, token FROM devices" shop > users.csv': NO_SERVICE,
    "app-backend import --from tokens.csv --set platform=fcm --issuer firebase": NO_SERVICE,
    "app-backend apns channel create --keep-newest": NO_APPLE,
    "app-backend apns channel list": NO_APPLE,
    "app-backend apns channel send ID update.json": NO_APPLE,
    "app-backend apns channel delete ID": NO_APPLE,
    "ssh root@host app-backend store backup > store.tar": NO_OTHER_HOST,
    "old# systemctl disable --now app-backend.socket app-backend.service": NO_OTHER_HOST,
    "old# tar -cf - -C /var/lib/private/app-backend . | ssh root@new 'umask 077; cat > store.tar'": NO_OTHER_HOST,
    "tar -xf store.tar -C": "a part of a sentence; the same with its folder is typed below *Test a backup*",
    "dpkg-deb -x app-backend_0.1.0_amd64.deb package": SHARED,
    "cd ~/app-backend && ./app-backend user add alice": SHARED,
    "./app-backend keys vapid": SHARED,
    "./app-backend doctor --socket none --url https://push.example.com": SHARED,
    "ls -ld ~/app-backend/store": SHARED,
    "lighttpd -tt -f ~/app-backend/lighttpd.conf": SHARED,
    "lighttpd -f ~/app-backend/lighttpd.conf": SHARED,
    'kill "$(cat ~/app-backend/lighttpd.pid)"': SHARED,
    "mv app-backend.new app-backend": SHARED,
    'pkill -u "$USER" -x app-backend': SHARED,
    "chmod 700 store": SHARED,
    "chmod 700 app-backend": SHARED,
    "gpg --batch --passphrase '' --quick-generate-key 'AppBackend packages' ed25519 sign 3y": SIGNING,
    "gpg --list-keys 'AppBackend packages'": SIGNING,
    "gpg --quick-set-expire FINGERPRINT 3y": SIGNING,
    "gpg --show-keys /usr/share/keyrings/app-backend.gpg": SIGNING,
    "rsync -a repository/pool repository/app-backend.gpg packages.example.com:/var/www/packages/": NO_OTHER_HOST,
    "rsync -a --delete repository/dists packages.example.com:/var/www/packages/": NO_OTHER_HOST,
    "podman build --target try --tag app-backend:0.1.0-try .": REGISTRY,
    "podman build --target responder --tag app-backend:0.1.0 .": REGISTRY,
}
