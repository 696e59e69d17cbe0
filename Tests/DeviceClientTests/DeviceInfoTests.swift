// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct DeviceInfoTests {
    @Test func `the installation's id is made once and kept`() {
        let storage = MemoryStorage()
        let first = DeviceInfo(storage: storage)
        #expect(UUID(uuidString: first.installationID) != nil)
        #expect(DeviceInfo(storage: storage).installationID == first.installationID)
        #expect(DeviceInfo(storage: MemoryStorage()).installationID != first.installationID)
        #expect(DeviceInfo(storage: MemoryStorage(installationID: "kept")).installationID == "kept")
    }

    @Test(
        arguments: [
            ([], ""), ([0x00], "00"), ([0x0F, 0xA0, 0xFF], "0FA0FF"), ([UInt8](repeating: 0x1B, count: 100), nil),
        ] as [([UInt8], String?)])
    func `the token is upper-case hexadecimal, of any length`(bytes: [UInt8], hex: String?) {
        var device = DeviceInfo(storage: MemoryStorage())
        device.setDeviceToken(Data(bytes))
        #expect(device.deviceTokenInHex == hex ?? String(repeating: "1B", count: 100))
    }

    @Test func `there is no registration before there is a token`() throws {
        var device = DeviceInfo(storage: MemoryStorage(installationID: "i1"))
        #expect(device.deviceTokenInHex == nil && device.registration == nil)
        device.setDeviceToken([0xAB])
        #expect(
            device.registration == InstallationRegistration(platform: .ios, installationID: "i1", handle: "AB"))
    }
}
