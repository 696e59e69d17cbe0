// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>

// A macro that Swift does not import.
static inline int openssl_reason_unsupported(void) {
    return ERR_R_UNSUPPORTED;
}
