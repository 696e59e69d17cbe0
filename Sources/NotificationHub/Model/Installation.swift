// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text

/// A device that its app registers as a whole: a push channel, a user, tags, templates by name, and further tiles. The hub makes a
/// registration of the channel, one of each template, and the same of each tile.
package struct Installation: Equatable, Sendable {
    /// A channel and what is registered for it.
    package struct Part: Equatable, Sendable {
        package var handle: DeviceHandle
        /// As responses have it: a text, or of a browser also an object.
        var channel: JSONValue
        package var tags: [Tag] = []
        package var templates: [NamedTemplate] = []
    }

    /// A template with tags of its own.
    package struct NamedTemplate: Equatable, Sendable {
        package var name: String
        package var body: String
        package var headers: [PushHeader] = []
        package var expiry: String?
        package var tags: [Tag] = []
    }

    /// A further tile on the start screen of Windows.
    package struct Tile: Equatable, Sendable {
        package var name: String
        package var part: Part
    }

    package let id: String
    package var userID: String?
    /// As the client spells it, because SDKs compare it in their own spelling.
    var platformName: String
    /// In seconds since 1970; nil: never.
    package var expiresAt: Int64?
    /// An object of texts; nil: none.
    var pushVariables: JSONValue?
    package var main: Part
    package var tiles: [Tile] = []

    package var platform: Platform { main.handle.platform }

    /// The tags that its app gives it, also those of templates.
    package var tags: [Tag] {
        ([main] + tiles.map(\.part)).flatMap { $0.tags + $0.templates.flatMap(\.tags) }
    }
}

extension Installation {
    /// A registration that the hub makes of an installation.
    package struct Registration: Equatable, Sendable {
        /// Tells it apart from the others of the installation, as long as the tile and the template have their names.
        package let key: String
        package let description: RegistrationDescription
    }

    /// The tag of all registrations of an installation, and the one of a user's.
    private var systemTags: [Tag] {
        ["$InstallationId:{\(id)}"].compactMap { try? Tag(system: $0) }
            + [userID.map { "$UserId:{\($0)}" }].compactMap(\.self).compactMap { try? Tag(system: $0) }
    }

    /// The registrations behind it.
    package var registrations: [Registration] {
        var made = registrations(of: main, tile: nil)
        for tile in tiles { made += registrations(of: tile.part, tile: tile.name) }
        return made
    }

    private func registrations(of part: Part, tile: String?) -> [Registration] {
        let native = RegistrationDescription(
            tags: systemTags + part.tags, pushVariables: pushVariables.map { JSONWriter($0).text }, handle: part.handle,
            secondaryTileName: tile)
        let place = tile.map { "\($0.utf8.count):\($0)" } ?? ""
        return [Registration(key: place, description: native)]
            + part.templates.map { named in
                var registration = native
                registration.template = named.template
                registration.tags += named.tags.filter { !registration.tags.contains($0) }
                // Azure marks it with its name, too, even one that no expression can name.
                if let tag = try? Tag(named.name) {
                    if !registration.tags.contains(tag) { registration.tags.append(tag) }
                } else {
                    registration.unaddressableTags = [named.name]
                }
                return Registration(key: "\(place)/\(named.name)", description: registration)
            }
    }
}

extension Installation.NamedTemplate {
    fileprivate var template: Template { Template(body: body, name: name, expiry: expiry, headers: headers) }
}
