// SPDX-License-Identifier: Apache-2.0

/// Credentials of the form that the push services' consoles give out, made for these tests.
enum TestCredentials {
    static let google = #"{"type":"metadata_server","project_id":"p"}"#
    static let appleKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtn/OQBSYUGUtwkzK
        EIoc25dYATvy+IF35lxE1ELTZ7WhRANCAAQSKCmfvG+QSO7uOh2KeIpSgztGqyCQ
        eZgvK3RLYat7lyeIaiarYHsFq4bGvBxpPvh/ntOTQ5pHjZjcWwU3ztcY
        -----END PRIVATE KEY-----

        """
}
