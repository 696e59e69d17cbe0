// SPDX-License-Identifier: Apache-2.0
public import DeviceAPI
import JSON
import Text

/// Registers this device for its user's notifications, as the tutorial's class of this name does: the id is kept on the
/// device, asked for when none is kept, and asked for once more when the hub has forgotten it, or when it is another user's, whose
/// the device was before.
///
/// Calls happen one after the other, in the order they were made; equal calls that overlap are one. A call that has
/// begun goes on when its task is cancelled, because another caller may be waiting for it; the transport's deadline
/// bounds it.
public actor RegisterClient {
    private let calls: BackendCalls
    private let storage: any RegistrationIDStorage
    private var flight: Flight?
    /// The id that was registered last, for a storage that could not keep it or cannot be read now.
    private var lastID: String?

    /// - Parameters:
    ///   - transport: on Apple's platforms `URLSessionTransport()`.
    ///   - storage: on Apple's platforms `UserDefaultsStorage()`.
    public init(
        endpoint: Endpoint, credentials: Credentials, transport: any DeviceTransport,
        storage: any RegistrationIDStorage
    ) {
        calls = BackendCalls(endpoint: endpoint, credentials: credentials, transport: transport)
        self.storage = storage
    }

    /// The id that is kept; nil before the first registration and after the last. As `PushMessage.fromDevice` it keeps a message from
    /// this device.
    public nonisolated var registrationID: String? { storage.registrationID() }

    /// Registers the device under the tags; the backend adds the user's own.
    /// - Parameter app: as `DeviceRegistration.app`.
    /// - Throws: `registrationGone` when also a fresh id is gone; else what the refusal stands for.
    public func register(
        handle: String, platform: DevicePlatform, tags: [String] = [], app: String? = nil
    ) async throws(DeviceClientError) {
        try await register(DeviceRegistration(platform: platform.rawValue, handle: handle, tags: tags, app: app))
    }

    /// As `register(handle:platform:tags:app:)`, for a registration that has more to say: a browser's keys.
    public func register(_ registration: DeviceRegistration) async throws(DeviceClientError) {
        try await join(.register(registration))
    }

    /// Ends this device's registration and forgets the id: call it when the user logs out, so that the next user of
    /// the device does not inherit the notifications of this one. Without a kept id it does nothing.
    /// An id that is gone, or that is another user's, is forgotten without an error.
    /// - Throws: what any other refusal stands for; the id is then still kept.
    public func unregister() async throws(DeviceClientError) {
        try await join(.unregister)
    }

    /// Forgets the id without a call: the next `register` asks for another one.
    public func forget() {
        storage.setRegistrationID(nil)
    }

    /// The older tutorial's one call: one registration per installation, kept by the backend under the installation's
    /// id, so nothing is kept here.
    public func register(_ registration: InstallationRegistration) async throws(DeviceClientError) {
        _ = try await calls.success(.post, Path.register, json: registration.json)
    }
}

// MARK: - One call at a time

extension RegisterClient {
    private enum Errand: Equatable {
        case register(DeviceRegistration)
        case unregister
    }

    private struct Flight {
        let errand: Errand
        let task: Task<Result<Void, DeviceClientError>, Never>
    }

    /// Joins the last call when it has the same errand, else follows it.
    private func join(_ errand: Errand) async throws(DeviceClientError) {
        if let flight, flight.errand == errand { return try await flight.task.value.get() }
        let previous = flight?.task
        let task = Task {
            _ = await previous?.value
            return await self.run(errand)
        }
        flight = Flight(errand: errand, task: task)
        let result = await task.value
        if flight?.task == task { flight = nil }
        return try result.get()
    }

    private func run(_ errand: Errand) async -> Result<Void, DeviceClientError> {
        do throws(DeviceClientError) {
            switch errand {
            case .register(let registration): try await perform(registration)
            case .unregister: try await end()
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}

// MARK: - The tutorial's two steps

extension RegisterClient {
    /// 410 says that the id is no good, and one 403 that it is another user's. Then the steps are taken once more, with a fresh one.
    private func perform(_ registration: DeviceRegistration) async throws(DeviceClientError) {
        do {
            let id = if let keptID { keptID } else { try await requestID(handle: registration.handle) }
            try await put(registration, id)
        } catch {
            guard error.isAboutID else { throw error }
            try await put(registration, try await requestID(handle: registration.handle))
        }
    }

    private func put(_ registration: DeviceRegistration, _ id: String) async throws(DeviceClientError) {
        do {
            _ = try await calls.success(.put, "\(Path.register)/\(id)", json: registration.json)
            lastID = id
        } catch {
            if case .registrationGone = error { storage.setRegistrationID(nil) }
            throw error
        }
    }

    /// Nil also for what cannot be an id.
    private var keptID: String? {
        storage.registrationID().flatMap { Self.isRegistrationID($0) ? $0 : nil }
    }

    /// A new id for the handle, which is kept at once.
    ///
    /// The handle travels in the query because the contract, which is the tutorial's, says so. TLS covers it on the
    /// way, and the nginx files that come with the backend keep the queries of this path out of the access log.
    private func requestID(handle: String) async throws(DeviceClientError) -> String {
        let response = try await calls.success(.post, Path.register, query: [("handle", handle)])
        let id = try read(response) { response throws(Problem) in
            guard let id = (try? JSONValue(parsing: response.body))?.string, Self.isRegistrationID(id) else {
                throw Problem.malformedAnswer("The answer is not a registration's id.")
            }
            return id
        }
        storage.setRegistrationID(id)
        return id
    }

    private func end() async throws(DeviceClientError) {
        guard let id = keptID ?? lastID else { return storage.setRegistrationID(nil) }
        do {
            _ = try await calls.success(.delete, "\(Path.register)/\(id)")
        } catch {
            // What was to be ended has ended, or is no longer this user's.
            guard error.isAboutID else { throw error }
        }
        lastID = nil
        storage.setRegistrationID(nil)
    }

    /// Whether the text may be in a path as an id: 1 ... 128 of `A-Z a-z 0-9 - _`, as hubs make them.
    private static func isRegistrationID(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy(ASCII.isURLSafe)
    }
}

extension DeviceClientError {
    /// Whether another id would do.
    fileprivate var isAboutID: Bool {
        switch self {
        case .registrationGone: true
        case .refused(let problem): problem.code == .foreignRegistration
        default: false
        }
    }
}
