// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// Changes of an installation: a JSON Patch (RFC 6902) of `add`, `replace` and `remove`, whose values Azure wraps in texts.
package struct InstallationPatch: Sendable {
    private struct Change {
        enum Action: String { case add, replace, remove }

        let action: Action
        /// The names of the path, from the installation down.
        let path: [String]
        let value: JSONValue
    }

    /// A patch with more changes is refused.
    private static let maximumChanges = 1_000

    private var changes: [Change] = []

    /// - Throws: `ServableHubError.invalid`, as `applied(to:)`.
    package init(decoding bytes: [UInt8]) throws(ServableHubError) {
        guard let array = (try? JSONValue(parsing: bytes))?.array, array.count <= Self.maximumChanges else {
            throw .patch("it must be an array of at most \(Self.maximumChanges) changes")
        }
        for element in array {
            guard let action = element["op"]?.string.flatMap({ Change.Action(rawValue: $0.lowercased()) }) else {
                throw .patch("op must be add, replace or remove")
            }
            guard let path = element["path"]?.string, path.hasPrefix("/") else {
                throw .patch("path must begin with /")
            }
            // A slash is written as `~1`, and the sign itself as `~0` (RFC 6901 section 4).
            let names = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
                String($0).replacing("~1", with: "/").replacing("~0", with: "~")
            }
            changes.append(Change(action: action, path: names, value: element["value"] ?? .null))
        }
    }

    /// The installation after all changes. If one cannot be made, none is.
    package func applied(to installation: Installation) throws(ServableHubError) -> Installation {
        var json = installation.json
        for change in changes {
            json = try Self.apply(change, to: json, Shape.installation, change.path[...]) ?? .null
        }
        return try Installation(json, id: installation.id)
    }
}

extension InstallationPatch {
    /// What may be at a path.
    private indirect enum Shape: Sendable {
        /// A text, or of a browser's channel an object.
        case leaf
        case tags
        case map(Shape)
        case record([String: Shape])

        static let template = Shape.record(["body": .leaf, "headers": .map(.leaf), "expiry": .leaf, "tags": .tags])
        static let part: [String: Shape] = ["pushChannel": .leaf, "tags": .tags, "templates": .map(template)]
        static let installation = Shape.record(
            part.merging([
                "userId": .leaf, "expirationTime": .leaf, "pushVariables": .map(.leaf),
                "secondaryTiles": .map(.record(part)),
            ]) { $1 })
    }

    /// - Parameters:
    ///   - value: what is there; nil: nothing.
    ///   - path: from there to what is changed.
    /// - Returns: what is there then; nil: nothing.
    private static func apply(
        _ change: Change, to value: JSONValue?, _ shape: Shape, _ path: ArraySlice<String>
    ) throws(ServableHubError) -> JSONValue? {
        if value == nil, change.action == .remove { return nil }
        guard let name = path.first else { return try set(change, value, shape) }
        switch shape {
        case .leaf: throw .unknownPath
        case .tags:
            guard change.action == .remove, path.count == 1 else { throw .unknownPath }
            let kept = (value?.array ?? []).filter { $0.string?.lowercased() != name.lowercased() }
            return .array(kept)
        case .map(let inner):
            guard !name.isEmpty else { throw .unknownPath }
            return try apply(change, inside: value, name, inner, path.dropFirst())
        case .record(let members):
            guard let member = members.first(where: { $0.key.lowercased() == name.lowercased() }) else {
                throw .unknownPath
            }
            return try apply(change, inside: value, member.key, member.value, path.dropFirst())
        }
    }

    private static func apply(
        _ change: Change, inside value: JSONValue?, _ name: String, _ shape: Shape, _ path: ArraySlice<String>
    ) throws(ServableHubError) -> JSONValue {
        var members = value?.members ?? []
        let index = members.firstIndex { $0.name == name }
        let changed = try apply(change, to: index.map { members[$0].value }, shape, path)
        switch (index, changed) {
        case (let index?, let changed?): members[index].value = changed
        case (let index?, nil): members.remove(at: index)
        case (nil, let changed?): members.append(JSONValue.Member(name, changed))
        case (nil, nil): break
        }
        return .object(members)
    }

    /// What the end of a path is after the change.
    private static func set(
        _ change: Change, _ value: JSONValue?, _ shape: Shape
    ) throws(ServableHubError) -> JSONValue? {
        guard change.action != .remove else { return nil }
        switch shape {
        case .leaf:
            guard change.value.string != nil || change.value.members != nil else { throw .unknownValue }
            return change.value
        case .tags:
            let given = unwrapped(change.value).array ?? [change.value]
            let old = change.action == .add ? value?.array ?? [] : []
            return .array(old + given)
        case .map:
            guard let given = unwrapped(change.value).members else { throw .unknownValue }
            guard change.action == .add else { return .object(given) }
            let kept = (value?.members ?? []).filter { old in !given.contains { $0.name == old.name } }
            return .object(kept + given)
        case .record:
            guard case let given = unwrapped(change.value), given.members != nil else { throw .unknownValue }
            return given
        }
    }

    /// The JSON that a text holds; the value itself, if it holds none.
    private static func unwrapped(_ value: JSONValue) -> JSONValue {
        value.string.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? value
    }
}

extension ServableHubError {
    fileprivate static func patch(_ reason: String) -> ServableHubError { .invalid("The patch is invalid: \(reason).") }
    fileprivate static let unknownPath = patch("it names a path that no installation has")
    fileprivate static let unknownValue = patch("a value does not fit its path")
}
