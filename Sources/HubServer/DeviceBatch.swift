// SPDX-License-Identifier: Apache-2.0
import JSON
import NotificationHub

/// The handles of a batch of direct sends.
enum DeviceBatch {
    private static let maximumDevices = 1_000

    /// - Parameter json: an array of texts. The documentation has single quotation marks around them.
    /// - Returns: each once.
    /// - Throws: `HubFault`, 400.
    static func handles(_ json: [UInt8], _ platform: Platform) throws(HubFault) -> [DeviceHandle] {
        let quoted = json.map { $0 == UInt8(ascii: "'") ? UInt8(ascii: "\"") : $0 }
        let array = (try? JSONValue(parsing: json))?.array ?? (try? JSONValue(parsing: quoted))?.array
        guard let array, (1...maximumDevices).contains(array.count) else {
            throw .bad("The devices must be a JSON array of 1 to \(maximumDevices) handles.")
        }
        var handles: [DeviceHandle] = []
        var seen: Set<String> = []
        for (index, element) in array.enumerated() {
            do throws(HandleError) {
                let handle = try DeviceHandle(direct: element.string ?? "", platform)
                if seen.insert(handle.channel).inserted { handles.append(handle) }
            } catch {
                throw .bad("Device \(index + 1) is invalid: \(error).")
            }
        }
        return handles
    }
}
