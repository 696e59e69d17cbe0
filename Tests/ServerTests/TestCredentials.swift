// SPDX-License-Identifier: Apache-2.0

/// Credentials of the form that the push services' consoles give out, made for these tests.
enum TestCredentials {
    static let google = #"{"type":"metadata_server","project_id":"p"}"#
    /// The key of RFC 8037 appendix A.2.
    static let keySet =
        #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#
    static let appleKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtn/OQBSYUGUtwkzK
        EIoc25dYATvy+IF35lxE1ELTZ7WhRANCAAQSKCmfvG+QSO7uOh2KeIpSgztGqyCQ
        eZgvK3RLYat7lyeIaiarYHsFq4bGvBxpPvh/ntOTQ5pHjZjcWwU3ztcY
        -----END PRIVATE KEY-----

        """
    /// Good until the year 2126.
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdjCCARugAwIBAgIUT9ST6/SFNOx4m0zp44VNWjg0VS0wCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIyMDA5MzdaGA8yMTI2MTAyOTIwMDkz
        N1owDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFoK
        WAx2Z7NeYQVhbQxXjGtIidemdc4jMWkiqYw3Pyq7DHy3jW9kHO27Zb1xSwrl+KZa
        2LTRtzRIZAj8msugTtmjUzBRMB0GA1UdDgQWBBTnhEYsv/iGriJO3/segK0C3s9W
        mzAfBgNVHSMEGDAWgBTnhEYsv/iGriJO3/segK0C3s9WmzAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0kAMEYCIQDm3jzVotx+z5WLJ18bQ75IhS2imQMF+bhF
        PwQn/nIfCQIhAM3sXbRjNMg0/FBNFQG0KiFqIdcHTTysatfE+lcCumCR
        -----END CERTIFICATE-----

        """
    static let certificateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3//P/P/Z9A8kHb8o
        NKj5J+otugqUQQWzaZ+pJ5gQM/mhRANCAARaClgMdmezXmEFYW0MV4xrSInXpnXO
        IzFpIqmMNz8quwx8t41vZBztu2W9cUsK5fimWti00bc0SGQI/JrLoE7Z
        -----END PRIVATE KEY-----

        """
    /// The same key, encrypted with `password`.
    static let encryptedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHrMFYGCSqGSIb3DQEFDTBJMCgGCSqGSIb3DQEFDDAbBAguBOHDYjZI9QIBATAM
        BggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQRVyrrU1+h9+1eOAloC9kSgSBkL7w
        5d0WIehJmHFpGw1D42NrRUDH5PSn4qsyy85loAB+NytlR9vujTg05hvhchXjOzIL
        k2qe1YlXxvO8XMvlFWzEFzkau26eOC2YADEfENkL2RP1i3qc/NSpXjGXgCJPzXhW
        nf+eK8eMca/uipR+1JFaS57iYlxhKoNoZz4VAdXsnNWwU5qCKqMqUSAQRCrRWQ==
        -----END ENCRYPTED PRIVATE KEY-----

        """
    /// With Apple's extension, which lists com.example.app and com.example.app.voip; and its key.
    static let listingCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBijCCATCgAwIBAgIUKCNjMLQchDC/K5Mweq5tcq/4FFwwCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIyMDA5MzdaGA8yMTI2MTAyOTIwMDkz
        N1owDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPyI
        2ZstDjKtZ8mP2olWSm4vJUPUyKjN0exWNqoxOWShtlFPpziLvERemWAjNkkN1pnP
        AwUOrrqIBoW/LqTOAVOjaDBmMEUGCiqGSIb3Y2QGAwYENzA1DA9jb20uZXhhbXBs
        ZS5hcHAwBQwDYXBwDBRjb20uZXhhbXBsZS5hcHAudm9pcDAFDANhcHAwHQYDVR0O
        BBYEFD4U+sMFBjy7sdfmDJqrjKLU2zhqMAoGCCqGSM49BAMCA0gAMEUCIQDOvGHo
        P3nBkPmhlx0LnW5cB+4/99/Xt4asQNvR0RKz+QIgbvIhORqbfl3nvRlicU/Y4UOe
        ukITEK8X/NBgJ199KWs=
        -----END CERTIFICATE-----
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg6H0Y9dtpE7tOsQUw
        hMhQT03n8mhhAy/easXM8QQZhFuhRANCAAT8iNmbLQ4yrWfJj9qJVkpuLyVD1Mio
        zdHsVjaqMTlkobZRT6c4i7xEXplgIzZJDdaZzwMFDq66iAaFvy6kzgFT
        -----END PRIVATE KEY-----

        """

    /// A group of the configuration.
    static func appleApp(_ topic: String, _ environment: String = "production") -> String {
        let key = appleKey.replacing("\n", with: "\\n")
        return #"{ "key": "\#(key)", "keyId": "KEYID12345", "teamId": "TEAM123456", "topic": "\#(topic)", "#
            + #""environment": "\#(environment)" }"#
    }
}
