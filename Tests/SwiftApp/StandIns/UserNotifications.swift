// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// What DeviceClient uses of Apple's UserNotifications.
public import Foundation

open class UNNotificationContent: NSObject {
    public fileprivate(set) var shownTitle = ""
    public fileprivate(set) var shownBody = ""
    public fileprivate(set) var info: [AnyHashable: Any] = [:]

    open var title: String { shownTitle }
    open var body: String { shownBody }
    open var userInfo: [AnyHashable: Any] { info }

    open override func mutableCopy() -> Any {
        let copy = UNMutableNotificationContent()
        (copy.shownTitle, copy.shownBody, copy.info) = (shownTitle, shownBody, info)
        return copy
    }
}

open class UNMutableNotificationContent: UNNotificationContent {
    open override var title: String {
        get { shownTitle }
        set { shownTitle = newValue }
    }
    open override var body: String {
        get { shownBody }
        set { shownBody = newValue }
    }
    open override var userInfo: [AnyHashable: Any] {
        get { info }
        set { info = newValue }
    }
}

open class UNNotificationRequest: NSObject {
    public let content: UNNotificationContent
    public init(content: UNNotificationContent) { self.content = content }
}

open class UNNotificationServiceExtension: NSObject {
    public override init() {}
    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
    open func serviceExtensionTimeWillExpire() {}
}
