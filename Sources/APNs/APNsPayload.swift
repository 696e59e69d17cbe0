// SPDX-License-Identifier: Apache-2.0
import JSON

/// A payload, as far as APNs reads it.
struct APNsPayload {
    private let root: JSONValue
    private let aps: JSONValue?

    /// - Throws: `notObject`, `apsKind`.
    init(_ body: [UInt8]) throws(NotificationFault) {
        guard let root = try? JSONValue(parsing: body), root.members != nil else { throw .notObject }
        self.root = root
        aps = root["aps"]
        if let aps, aps.members == nil { throw .apsKind }
    }

    /// The push type where neither a header nor the topic names one.
    /// - Throws: `ambiguousType`.
    func derivedType() throws(NotificationFault) -> APNsPushType {
        guard let aps else { return root["mdm"] == nil ? .alert : .mdm }
        if isSilent { return .background }
        if aps["event"] != nil, aps["content-state"] != nil { return .liveactivity }
        if aps["content-changed"] != nil, aps["alert"] == nil { throw .ambiguousType }
        return .alert
    }

    /// - Throws: what does not agree with the type.
    func check(_ type: APNsPushType) throws(NotificationFault) {
        guard !type.needsAps || aps != nil else { throw .noAps }
        switch type {
        case .background: if !isSilent { throw .background }
        case .liveactivity: try checkLiveActivity()
        case .controls, .widgets: if aps?["content-changed"]?.bool != true { throw .contentChanged }
        case .mdm: if root["mdm"]?.string == nil { throw .mdm }
        case .alert, .voip, .complication, .fileprovider, .location, .pushtotalk: break
        }
    }

    /// Nothing that a person sees or hears; an empty sound, which the tutorials send, counts as no sound.
    private var isSilent: Bool {
        guard let aps, aps["content-available"]?.integer == 1 else { return false }
        let sound = aps["sound"]
        return aps["alert"] == nil && aps["badge"] == nil && (sound == nil || sound?.string == "")
    }

    private func checkLiveActivity() throws(NotificationFault) {
        guard let event = aps?["event"]?.string, ["start", "update", "end"].contains(event) else {
            throw .liveActivityEvent
        }
        guard let timestamp = aps?["timestamp"]?.integer, Epoch.isPlausible(timestamp) else {
            throw .liveActivityTimestamp
        }
        let state = aps?["content-state"]
        guard state?.members != nil || (state == nil && event == "end") else { throw .liveActivityState }
        guard event == "start" else { return }
        guard aps?["attributes-type"]?.string != nil, aps?["attributes"]?.members != nil, aps?["alert"] != nil else {
            throw .liveActivityStart
        }
    }
}

/// Seconds since 1970.
enum Epoch {
    /// 2001 to 2100: a duration is less, and milliseconds are more.
    private static let plausible = 1_000_000_000...4_102_444_800

    static func isPlausible(_ seconds: Int) -> Bool { plausible.contains(seconds) }
}
