// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// What DeviceClient uses of Apple's Security, as a keychain in memory: an item is what its class, service, account and access group
// name. Each item has to say when it may be read.
import Foundation

// Core Foundation's own types are bridged to these, which a test cannot do without Objective-C.
public typealias CFString = String
public typealias CFDictionary = [String: Any]
public typealias CFTypeRef = Any
#if !canImport(Darwin)
    public typealias OSStatus = Int32
#endif

public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecAttrService: CFString = "svce"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrAccessGroup: CFString = "agrp"
public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"
public let kSecReturnData: CFString = "r_Data"
public let kSecValueData: CFString = "v_Data"
@available(macOS 10.15, iOS 13.0, *)
public let kSecUseDataProtectionKeychain: CFString = "nleg"

public let errSecSuccess: OSStatus = 0
public let errSecParam: OSStatus = -50
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300

public func SecItemAdd(
    _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    keychain.answer(attributes) { item in
        guard item == nil else { return errSecDuplicateItem }
        guard let data = attributes[kSecValueData] as? Data,
            attributes[kSecAttrAccessible] as? String == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        else { return errSecParam }
        item = data
        return errSecSuccess
    }
}

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    keychain.answer(query) { item in
        guard query[kSecReturnData] as? Bool == true, query[kSecMatchLimit] as? String == kSecMatchLimitOne else {
            return errSecParam
        }
        guard let item else { return errSecItemNotFound }
        result?.pointee = item
        return errSecSuccess
    }
}

public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    keychain.answer(query) { item in
        guard item != nil else { return errSecItemNotFound }
        item = attributesToUpdate[kSecValueData] as? Data
        return errSecSuccess
    }
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    keychain.answer(query) { item in
        guard item != nil else { return errSecItemNotFound }
        item = nil
        return errSecSuccess
    }
}

/// For tests: what the next calls answer, whatever they ask for.
public func SecStandInAnswer(_ status: OSStatus?) { keychain.status = status }

private final class Keychain {
    var items: [[String]: Data] = [:]
    var status: OSStatus?

    func answer(_ query: CFDictionary, _ body: (inout Data?) -> OSStatus) -> OSStatus {
        if let status { return status }
        guard query[kSecClass] as? String == kSecClassGenericPassword, let service = query[kSecAttrService] as? String,
            let account = query[kSecAttrAccount] as? String, query[kSecUseDataProtectionKeychain] as? Bool == true
        else { return errSecParam }
        // A query without a group meets the items of all groups; an item without one is added to the first.
        let known = items.keys.first { $0.starts(with: [service, account]) }
        let group = query[kSecAttrAccessGroup] as? String ?? known?.last ?? "first"
        return body(&items[[service, account, group]])
    }
}

nonisolated(unsafe) private let keychain = Keychain()
