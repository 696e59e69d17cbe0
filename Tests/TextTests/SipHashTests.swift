// SPDX-License-Identifier: Apache-2.0
import Testing
import Text

@Suite struct SipHashTests {
    @Test func `the hash is that of the reference implementation`() throws {
        let vectors: [UInt64] = [
            0x726F_DB47_DD0E_0E31, 0x74F8_39C5_93DC_67FD, 0x0D6C_8009_D9A9_4F5A, 0x8567_6696_D7FB_7E2D,
            0xCF27_94E0_2771_87B7, 0x1876_5564_CD99_A68D, 0xCBC9_466E_58FE_E3CE, 0xAB02_00F5_8B01_D137,
            0x93F5_F579_9A93_2462, 0x9E00_82DF_0BA9_E4B0, 0x7A5D_BBC5_94DD_B9F3, 0xF4B3_2F46_226B_ADA7,
            0x751E_8FBC_860E_E5FB, 0x14EA_5627_C084_3D90, 0xF723_CA90_8E7A_F2EE, 0xA129_CA61_49BE_45E5,
        ]
        let hash = try #require(SipHash(key: Array(0..<16)))
        for (length, expected) in vectors.enumerated() {
            let input = (0..<length).map { UInt8($0) }
            #expect(input.withUnsafeBufferPointer { hash.hash($0) } == expected)
        }
        #expect(SipHash(key: Array(0..<15)) == nil)
    }
}
