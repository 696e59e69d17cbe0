<?php
// SPDX-License-Identifier: Apache-2.0
//
// What Tests/Bench/responder.c does for /c-reading/ID, as a script would do it. nginx names in FASTCGI parameters what the
// other peers get as arguments: BENCH_CREDENTIALS is `USER:PASSWORD`, BENCH_FILE the file.
declare(strict_types=1);

const KEY = '0123456789abcdef0123456789abcde';

function is_authorized(string $header): bool
{
    if (!str_starts_with($header, 'Basic ')) {
        return false;
    }
    $credentials = base64_decode(substr($header, 6), true);
    $expected = hash_hmac('sha256', $_SERVER['BENCH_CREDENTIALS'], KEY, true);
    return $credentials !== false && hash_equals($expected, hash_hmac('sha256', $credentials, KEY, true));
}

/** The record with that id, out of the lines of the file. */
function read(string $id): ?array
{
    $lines = file_get_contents($_SERVER['BENCH_FILE']);
    $start = strpos($lines, '{"id":' . $id . ',');
    if ($start === false) {
        return null;
    }
    return json_decode(substr($lines, $start, strpos($lines, "\n", $start) - $start), true);
}

if (!is_authorized($_SERVER['HTTP_AUTHORIZATION'] ?? '')) {
    http_response_code(401);
    exit;
}
$uri = $_SERVER['REQUEST_URI'];
$found = read(substr($uri, strrpos($uri, '/') + 1));
if ($found === null) {
    http_response_code(404);
    exit;
}
$body = json_encode(['Id' => $found['id'], 'Payload' => $found['payload'], 'Read' => true]);
header('Content-Type: application/json; charset=utf-8');
header('Cache-Control: no-store');
header('X-Content-Type-Options: nosniff');
header('Content-Length: ' . strlen($body));
echo $body;
