// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store

/// `PUT /api/register/{id}`
extension RegisterController {
    /// How often a registration is tried again when somebody else changes the same one at the same time.
    static let maximumAttempts = 4
    /// How often the hub is told anew what others decided meanwhile. Each turn is owed to one more of them.
    static let maximumTurns = 32

    /// Registers the device under an id that was handed out here.
    ///
    /// The store decides who owns the id, atomically, and then the hub is told: of two users who register one device
    /// at the same moment, the one who owns it in the end is also the one whose tag the hub has.
    func put(_ request: Request, _ id: String) throws -> Response {
        let user = try request.authenticatedUser()
        try request.requireJSON()
        let wish = try Wish(DeviceRegistration(body: request.body))
        let tags = try policy.claim(wish.registration.tags, user: try store.user(user))
        guard let registrationID = RegistrationID(id) else { throw HubError.registrationGone }
        let hub = hub.tracking(request.id)
        for _ in 0..<Self.maximumAttempts {
            guard let (record, isNewHandle) = try record(id, user: user, wish: wish, tags: tags) else { continue }
            guard try settle(record, registrationID, wish.handle, hub) else { continue }
            if isNewHandle { try removeDoubles(of: record, wish.handle, hub) }
            return Response()
        }
        throw StoreError.conflict
    }

    /// Tells the hub what the store says, until the store says the same afterwards.
    ///
    /// Of calls that overlap, any may be the last to reach the hub. So nobody leaves before he has seen that what he
    /// told still stands. And what he tells anew is what the store says, not what he wishes, so that the turns end
    /// with the decisions of others.
    /// - Returns: false, when the record has another handle meanwhile: decide anew.
    private func settle(
        _ decision: DeviceRecord, _ id: RegistrationID, _ handle: DeviceHandle, _ hub: NotificationHubClient
    ) throws -> Bool {
        var record = decision
        for _ in 0..<Self.maximumTurns {
            try tellHub(record, id, handle, hub)
            guard let current = try store.device(record.id) else {
                // Deleted meanwhile, perhaps before the hub heard of us.
                try remove(id, hub)
                throw HubError.registrationGone
            }
            if current.version == record.version { return true }
            guard current.handle == record.handle, current.installationID == nil else { return false }
            record = current
        }
        throw StoreError.conflict
    }

    /// A device has one native registration. Others of its handle are of the time before it asked for this id, and
    /// perhaps of a user whose notifications it must not receive any more.
    ///
    /// Of two requests that register one handle under two ids at the same moment, only the later record (by time,
    /// then by id) removes the other, so that one of them always stays.
    private func removeDoubles(
        of record: DeviceRecord, _ handle: DeviceHandle, _ hub: NotificationHubClient
    ) throws {
        for double in try hub.registrations(channel: record.handle) {
            guard let id = double.id, id.description != record.id, double.template == nil,
                double.platform == handle.platform
            else { continue }
            if let other = try store.device(id.description),
                (other.updatedAt.seconds, other.id) > (record.updatedAt.seconds, record.id)
            {
                continue
            }
            try remove(id, hub)
        }
    }

    /// What the device asks for, checked.
    private struct Wish {
        let registration: DeviceRegistration
        let handle: DeviceHandle

        init(_ registration: DeviceRegistration) throws(Problem) {
            self.registration = registration
            handle = try DeviceHandle(registration)
        }
    }

    /// Writes who owns the id and what for.
    /// - Returns: the record and whether its handle is another than before; nil, when somebody else changed the
    ///   record meanwhile: decide anew.
    private func record(
        _ id: String, user: String, wish: Wish, tags: [Tag]
    ) throws -> (DeviceRecord, isNewHandle: Bool)? {
        guard var device = try store.device(id) else { throw HubError.registrationGone }
        let platform = wish.handle.platform.rawValue
        let hasSameHandle = device.platform == platform && device.handle == wish.handle.channel
        guard device.owner == user || hasSameHandle else {
            throw Problem(.forbidden, "This registration id belongs to somebody else.")
        }
        device.owner = user
        device.platform = platform
        device.handle = wish.handle.channel
        device.tags = tags.map(\.description)
        device.installationID = nil
        device.updatedAt = now()
        return try replace(device).map { ($0, !hasSameHandle) }
    }

    /// - Returns: nil, when the record is not at the version that was read any more.
    func replace(_ device: DeviceRecord) throws(StoreError) -> DeviceRecord? {
        do throws(StoreError) {
            return try store.putDevice(device)
        } catch {
            guard error == .conflict else { throw error }
            return nil
        }
    }

    private func tellHub(
        _ record: DeviceRecord, _ id: RegistrationID, _ handle: DeviceHandle, _ hub: NotificationHubClient
    ) throws {
        let userTag = try Self.userTag(record.owner)
        let tags = try record.tags.map(Self.serverTag).filter { $0 != userTag }
        let description = RegistrationDescription(id: id, tags: tags + [userTag], handle: handle)
        do throws(HubError) {
            _ = try hub.createOrUpdate(description)
        } catch {
            // The id will never work again; whoever comes with it next is told 410 without asking the hub.
            if error == .registrationGone { _ = try store.removeDevice(record.id, version: record.version) }
            throw error
        }
    }
}

extension DeviceHandle {
    /// - Throws: `Problem` 400, naming the field; never the handle.
    fileprivate init(_ registration: DeviceRegistration) throws(Problem) {
        let keys = registration.keys
        do {
            switch registration.platform.lowercased() {
            case "apns": self = try .apns(registration.handle)
            // The old name of the same push service, whose old protocol Google has switched off.
            case "fcm", "gcm", "fcmv1": self = try .fcm(registration.handle)
            case "wns": self = try .wns(registration.handle)
            case "mpns": self = try .mpns(registration.handle)
            case "browser":
                guard let keys else {
                    throw Problem(.badRequest, "A browser needs Keys with p256dh and auth.", field: "Keys")
                }
                self = try .browser(endpoint: registration.handle, p256dh: keys.p256dh, auth: keys.auth)
            default:
                throw Problem(
                    .badRequest, "Platform must be one of apns, fcm, gcm, wns, mpns, browser.", field: "Platform")
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.badRequest, "The handle is not one of this platform: \(error).", field: "Handle")
        }
    }
}
