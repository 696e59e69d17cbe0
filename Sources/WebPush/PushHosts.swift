// SPDX-License-Identifier: Apache-2.0
internal import Push
internal import Text

/// The push services that may be sent to.
///
/// A browser tells us where to send, and any logged-in user can pretend to be one. Without this list they could let the
/// server call any host that it reaches. The list is the first of two checks: the transport looks at the addresses that
/// the names turn out to have.
package struct PushHosts: Sendable {
    /// Where the browsers of today have their services. The second is that of Chromium builds without Google's keys.
    package static let vendors = PushHosts(
        names: ["fcm.googleapis.com", "jmt17.google.com"],
        suffixes: [".push.services.mozilla.com", ".push.apple.com", ".notify.windows.com"])

    /// An entry that is not a host.
    package struct BadEntry: Error, Equatable, CustomStringConvertible {
        package let entry: String
        package let reason: String

        package var description: String { "\(entry): \(reason)" }
    }

    private static let httpsPort: UInt16 = 443

    private var names: Set<String>
    /// With the dot: `.push.apple.com`.
    private var suffixes: [String]
    /// Whether every name may be sent to; the transport still refuses private addresses.
    private var isAny = false
    /// Lower case and with port, 443 too: those that may have any address, also one of this host.
    package private(set) var privateAuthorities: Set<String> = []

    private init(names: Set<String>, suffixes: [String]) {
        self.names = names
        self.suffixes = suffixes
    }

    /// - Parameters:
    ///   - hosts: names (`fcm.googleapis.com`), or `*.` and a domain, which stands for every name below the domain and
    ///     not for the domain itself. Their port is 443. The word `vendors` stands for those of the vendors, and `*` for
    ///     every name of two labels or more. Nil: the vendors'.
    ///   - privateHosts: `host:port`; an IPv6 address in brackets. They may be addresses, and have private ones.
    /// - Throws: `BadEntry`.
    package init(_ hosts: [String]? = nil, privateHosts: [String] = []) throws(BadEntry) {
        self = hosts == nil ? .vendors : PushHosts(names: [], suffixes: [])
        for entry in hosts ?? [] {
            if entry == "*" {
                isAny = true
                continue
            }
            if entry == "vendors" {
                names.formUnion(Self.vendors.names)
                suffixes += Self.vendors.suffixes
                continue
            }
            let isSuffix = entry.hasPrefix("*.")
            guard let authority = Authority(isSuffix ? entry.dropFirst(2) : entry[...]), authority.port == nil,
                HostName.isName(authority.host, labels: isSuffix ? 2 : 1)
            else {
                throw BadEntry(
                    entry: entry,
                    reason:
                        "must be a host's name, *. and a domain of two labels, without a port, or one of: vendors, *")
            }
            if isSuffix { suffixes.append("." + authority.host) } else { names.insert(authority.host) }
        }
        for entry in privateHosts {
            guard let authority = Authority(entry), authority.port != nil else {
                throw BadEntry(entry: entry, reason: "must be host:port")
            }
            privateAuthorities.insert(authority.description)
        }
    }

    /// Names to look up, to see whether services can be found. Where any name below a domain is good, one that is known
    /// stands for it: Mozilla's and Apple's.
    package var exampleNames: [String] {
        let known = [
            ".push.services.mozilla.com": "updates.push.services.mozilla.com", ".push.apple.com": "web.push.apple.com",
        ]
        let ownHosts = privateAuthorities.compactMap { Authority($0)?.host }.filter { !$0.hasPrefix("[") }
        return names.sorted() + suffixes.compactMap { known[$0] } + ownHosts.sorted()
    }

    /// Whether a browser may be told to be reached there.
    package func allow(endpoint: String) -> Bool {
        ServiceURL(endpoint).map { $0.scheme == "https" && allow($0.authority) } ?? false
    }

    /// Whether that host and port may be sent to by `https`.
    func allow(_ authority: Authority) -> Bool {
        let port = authority.port ?? Self.httpsPort
        if privateAuthorities.contains("\(authority.host):\(port)") { return true }
        guard port == Self.httpsPort, HostName.isName(authority.host, labels: 1) else { return false }
        if isAny, HostName.isName(authority.host, labels: 2), !SpecialUseName.contains(authority.host) { return true }
        return names.contains(authority.host) || suffixes.contains { authority.host.hasSuffix($0) }
    }
}
