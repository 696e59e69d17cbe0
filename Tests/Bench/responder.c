// SPDX-License-Identifier: Apache-2.0
//
// The least that a FastCGI responder in C can do and still do what AppBackend does for GET /api/notifications/{id}:
// script/bench measures both.
//
//   responder SOCKET THREADS USER:PASSWORD FILE
//
// Checks `Authorization: Basic` by HMAC-SHA256 and a comparison in constant time, as AppBackend does for a password that
// it has hashed before, and answers a JSON of the same size. A request for /c-reading/ID also reads the record of that
// id from FILE, a bucket of AppBackend's store.
#include <fcgiapp.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAC_BYTES = 32, CREDENTIAL_BYTES = 512, PAYLOAD_BYTES = 512, RECORD_BYTES = 1 << 17 };

static const unsigned char key[MAC_BYTES] = "0123456789abcdef0123456789abcde";
static unsigned char expected[MAC_BYTES];
static const char *file_path;
static int listener;

static void authenticate(const void *text, size_t length, unsigned char *mac) {
    unsigned int size = MAC_BYTES;
    HMAC(EVP_sha256(), key, sizeof key, text, length, mac, &size);
}

static int is_authorized(const char *header) {
    unsigned char text[CREDENTIAL_BYTES], mac[MAC_BYTES];
    if (header == NULL || strncmp(header, "Basic ", 6) != 0) return 0;
    size_t encoded = strlen(header += 6);
    if (encoded == 0 || encoded % 4 != 0 || encoded / 4 * 3 > sizeof text) return 0;
    int length = EVP_DecodeBlock(text, (const unsigned char *)header, (int)encoded);
    if (length < 0) return 0;
    for (size_t end = encoded; end > encoded - 2 && header[end - 1] == '='; end--) length--;
    authenticate(text, (size_t)length, mac);
    return CRYPTO_memcmp(mac, expected, sizeof mac) == 0;
}

// The payload of the record with that id, out of the lines of the file.
static int read_payload(const char *id, char *room, char *payload) {
    char start[64];
    int descriptor = open(file_path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || status.st_size >= RECORD_BYTES) return 0;
    ssize_t length = read(descriptor, room, (size_t)status.st_size);
    close(descriptor);
    if (length < 0) return 0;
    room[length] = 0;
    snprintf(start, sizeof start, "{\"id\":%.20s,", id);
    char *line = strstr(room, start);
    char *value = line ? strstr(line, "\"payload\":\"") : NULL;
    char *end = value ? strchr(value += 11, '"') : NULL;
    if (end == NULL || end - value >= PAYLOAD_BYTES) return 0;
    memcpy(payload, value, (size_t)(end - value));
    payload[end - value] = 0;
    return 1;
}

static void answer(FCGX_Request *request, char *room) {
    char payload[PAYLOAD_BYTES] = "The quick brown fox jumps over the lazy dog, and the code is 1234567.";
    char body[2 * PAYLOAD_BYTES];
    const char *uri = FCGX_GetParam("REQUEST_URI", request->envp);
    const char *id = uri ? strrchr(uri, '/') : NULL;
    if (!is_authorized(FCGX_GetParam("HTTP_AUTHORIZATION", request->envp))) {
        FCGX_FPrintF(request->out, "Status: 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
        return;
    }
    if (id == NULL || (strncmp(uri, "/c-reading/", 11) == 0 && !read_payload(id + 1, room, payload))) {
        FCGX_FPrintF(request->out, "Status: 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        return;
    }
    int length = snprintf(
        body, sizeof body, "{\"Id\":%.20s,\"Payload\":\"%s\",\"Read\":true}", id + 1, payload);
    FCGX_FPrintF(
        request->out,
        "Status: 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n"
        "Content-Length: %d\r\nX-Content-Type-Options: nosniff\r\n\r\n",
        length);
    FCGX_PutStr(body, length, request->out);
}

static void *serve(void *unused) {
    FCGX_Request request;
    char *room = malloc(RECORD_BYTES);
    FCGX_InitRequest(&request, listener, 0);
    while (room != NULL && FCGX_Accept_r(&request) == 0) {
        answer(&request, room);
        FCGX_Finish_r(&request);
    }
    return unused;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    authenticate(arguments[3], strlen(arguments[3]), expected);
    file_path = arguments[4];
    if (FCGX_Init() != 0 || (listener = FCGX_OpenSocket(arguments[1], 1024)) < 0) return 1;
    signal(SIGTERM, SIG_DFL);
    for (int threads = atoi(arguments[2]); threads > 1; threads--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, NULL) != 0) return 1;
    }
    serve(NULL);
    return 0;
}
