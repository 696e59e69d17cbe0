// SPDX-License-Identifier: Apache-2.0

/// Why a server cannot be trusted: no request is sent to it until an operator has changed something.
public enum ConnectionFault: Hashable, Sendable, CaseIterable {
    /// The certificate's issuer is not among those that this host trusts.
    case untrustedIssuer
    case expired, notYetValid
    /// The certificate was issued for another host.
    case otherHost
    /// The certificate was refused for another reason.
    case unverifiable
    /// This host has no certificates to compare with, or cannot read them.
    case missingTrust
}
