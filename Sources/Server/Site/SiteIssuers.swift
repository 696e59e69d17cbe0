// SPDX-License-Identifier: Apache-2.0
import Curl
import HTTP
import JWT
import Logging
import Push
import Text

/// What verifies the tokens of the configured issuers. A reload with the same issuers hands it on: keys and verified tokens
/// are kept.
package final class SiteIssuers: Sendable {
    /// The longest that one request for keys may take.
    private static let timeout = Duration.seconds(10)

    let verifier: TokenVerifier

    /// Those of the configuration; nil where it trusts none.
    /// - Throws: `TransportError`.
    static func configured(_ configuration: SiteConfiguration, _ logger: Logger) throws -> SiteIssuers? {
        guard !configuration.issuers.isEmpty else { return nil }
        return try SiteIssuers(configuration.issuers, logger: logger, now: { Site.now().seconds })
    }

    /// - Parameter now: seconds since 1970.
    /// - Throws: `TransportError`.
    init(
        _ configuration: [SiteConfiguration.Issuer], logger: Logger, now: @escaping @Sendable () -> Int64
    ) throws {
        let issuers = try configuration.compactMap { issuer -> (TrustedIssuer, any KeySource)? in
            // Checked when the configuration was read.
            guard let prefix = UserPrefix(issuer.prefix),
                let trusted = TrustedIssuer(
                    issuer: issuer.issuer, prefix: prefix, audiences: issuer.audiences,
                    authorizedParties: issuer.authorizedParties, userClaim: issuer.userClaim,
                    rolesClaim: issuer.rolesClaim, roles: issuer.roles)
            else { return nil }
            return (trusted, try Self.source(issuer, timeout: Self.timeout))
        }
        verifier = TokenVerifier(issuers, now: now) { issuer, event in
            let metadata: Logger.Metadata = ["issuer": "\(issuer)"]
            switch event {
            case .failure(let error):
                logger.warning(
                    "no newer keys of an issuer of tokens: \(error); the keys of before are kept", metadata: metadata)
            case .skipped(let keys):
                logger.notice(
                    "keys of an issuer of tokens are not used: \(SkippedKey.text(keys))", metadata: metadata)
            }
        }
    }

    /// Where the issuer's keys come from.
    static func source(_ issuer: SiteConfiguration.Issuer, timeout: Duration) throws(TransportError) -> any KeySource {
        switch issuer.keys {
        case .file(let path): return KeyFile { ConfigurationFile.read(path) }
        case .address(let url): return KeyAddress(request(url), sender: try transport(issuer, named: url, timeout))
        case .discovery:
            let named = SiteConfiguration.httpsURL(DiscoveredKeys.address(of: issuer.issuer))
            return DiscoveredKeys(issuer: issuer.issuer, sender: try transport(issuer, named: named, timeout)) {
                SiteConfiguration.httpsURL($0).map(request)
            }
        }
    }

    private static func request(_ url: ServiceURL) -> Request {
        url.request(.get, fields: [.accept: "application/json"])
    }

    /// - Parameter named: where the operator says that keys are, which may be in this network. What a document says must be
    ///   in the public Internet.
    private static func transport(
        _ issuer: SiteConfiguration.Issuer, named: ServiceURL?, _ timeout: Duration
    ) throws(TransportError) -> CurlTransport {
        let exceptions = [named].compactMap { $0?.authority.hostAndPort }
        return try CurlTransport(
            CurlOptions(
                timeout: timeout, caFile: issuer.caFile, addresses: .publicOnly(except: Set(exceptions)),
                userAgent: "app-backend/\(Version.text)", maximumResponseBytes: KeyFile.maximumBytes))
    }
}
