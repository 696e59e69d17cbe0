// SPDX-License-Identifier: Apache-2.0
import JSON
import NotificationHub
import Store
import Text

/// An installation as the store keeps it: one record, which is found by the tags and channels of all its registrations. These are made
/// of it when they are read, so they change together.
struct InstallationRecord {
    var installation: Installation
    /// The last part of the id of each registration, by `Installation.Registration.key`. One that was deleted has none.
    var numbers: [String: Int] = [:]
    /// The highest number that was given.
    private var last = 0
    /// As it was read; nil of one that was never stored.
    let stored: HubRegistration?

    init(_ installation: Installation) {
        self.installation = installation
        stored = nil
        number()
    }

    /// - Throws: `StoreError.damaged`, when the record is not what this hub writes.
    init(_ record: HubRegistration) throws(StoreError) {
        let damaged = StoreError.damaged(detail: "hub registration \(record.id): installation")
        guard let json = record.description[Self.member], let id = json["installationId"]?.string,
            let last = record.description["last"]?.integer
        else { throw damaged }
        do throws(ServableHubError) {
            installation = try Installation(json, id: id)
        } catch {
            throw damaged
        }
        for member in record.description["numbers"]?.members ?? [] { numbers[member.name] = member.value.integer }
        (self.last, stored) = (last, record)
    }

    fileprivate static let member = "installation"

    /// A tag under which an installation is found by the channel of a tile; no client can set it.
    static func tag(ofTile channel: String) -> String { "$channel:\(channel)" }

    /// Replaces the installation. Its registrations keep their ids, and those that were deleted are there again.
    mutating func replace(by installation: Installation) {
        self.installation = installation
        number()
    }

    /// Gives a number to each registration that has none.
    private mutating func number() {
        var given: [String: Int] = [:]
        for registration in installation.registrations {
            if numbers[registration.key] == nil { last += 1 }
            given[registration.key] = numbers[registration.key] ?? last
        }
        numbers = given
    }

    /// Its registrations, but for those that were deleted.
    private var present: [(number: Int, description: RegistrationDescription)] {
        installation.registrations.compactMap { registration in
            numbers[registration.key].map { ($0, registration.description) }
        }
    }

    /// Empty if it was never stored.
    var registrations: [KnownRegistration] {
        guard let stored else { return [] }
        return present.map { number, description in
            let id = RegistrationID(installation: installation.id, number: number)
            let registration = HubRegistration(
                description, id: id, in: stored.namespace, version: stored.version, now: stored.updatedAt.seconds)
            return KnownRegistration(registration: registration, description: description, isOfInstallation: true)
        }
    }

    /// Takes away the registration of that number, with `isWhole` also the others of its channel.
    mutating func remove(_ number: Int, withChannel isWhole: Bool = false) {
        guard let gone = present.first(where: { $0.number == number })?.description.handle else { return }
        let keys = installation.registrations.filter { registration in
            numbers[registration.key] == number || isWhole && registration.description.handle == gone
        }
        for registration in keys { numbers[registration.key] = nil }
    }

    /// As the store is to keep it.
    func record(in namespace: HubNamespace, now: Int64) -> HubRegistration {
        var tags: [String] = []
        for (_, description) in present {
            let channel = description.handle.channel
            let isTile = channel != installation.main.handle.channel
            tags += description.tags.map(\.folded) + (isTile ? [Self.tag(ofTile: channel)] : [])
        }
        var seen: Set<[UInt8]> = []
        tags = tags.filter { seen.insert(Array($0.utf8)).inserted }
        let counted = numbers.sorted { $0.value < $1.value }.map { JSONValue.Member($0.key, .number(String($0.value))) }
        let json: [JSONValue.Member] = [
            JSONValue.Member("platform", .string(installation.platform.rawValue)),
            JSONValue.Member(Self.member, installation.json), JSONValue.Member("numbers", .object(counted)),
            JSONValue.Member("last", .number(String(last))),
        ]
        return HubRegistration(
            id: namespace.stored(RegistrationID(installation: installation.id).description),
            channel: namespace.stored(installation.main.handle.channel), tags: tags.map(namespace.stored),
            description: .object(json), updatedAt: Timestamp(seconds: now), version: stored?.version ?? 0)
    }
}

extension HubRegistration {
    var isInstallation: Bool { description[InstallationRecord.member] != nil }
}
