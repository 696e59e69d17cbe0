// SPDX-License-Identifier: Apache-2.0

/// Keeps the registration's id between two starts of the app.
///
/// It need not be secret: the id alone opens nothing. Nor need it be reliable: an id that was lost costs one call,
/// because the backend finds the registration again by the device's handle.
public protocol RegistrationIDStorage: Sendable {
    /// The id kept last; nil when there is none.
    func registrationID() -> String?
    /// Keeps the id; nil forgets it.
    func setRegistrationID(_ id: String?)
}

/// Keeps the installation's id, which is made once and then stays.
public protocol InstallationIDStorage: Sendable {
    /// The id that is kept; when there is none, the made one, which is kept from then on.
    func installationID(orMake make: () -> String) -> String
}

/// Keeps both ids as long as the process runs: for tests, tools and previews.
public final class MemoryStorage: RegistrationIDStorage, InstallationIDStorage {
    private struct IDs {
        var registration: String?
        var installation: String?
    }

    private let ids: Guarded<IDs>

    /// - Parameters: what is kept from the start.
    public init(registrationID: String? = nil, installationID: String? = nil) {
        ids = Guarded(IDs(registration: registrationID, installation: installationID))
    }

    /// The id kept last; nil when there is none.
    public func registrationID() -> String? {
        ids.withLock { $0.registration }
    }

    /// Keeps the id; nil forgets it.
    public func setRegistrationID(_ id: String?) {
        ids.withLock { $0.registration = id }
    }

    /// The id that is kept, or the made one. Callers that come together get the same.
    public func installationID(orMake make: () -> String) -> String {
        ids.withLock { ids in
            if let id = ids.installation { return id }
            let id = make()
            ids.installation = id
            return id
        }
    }
}
