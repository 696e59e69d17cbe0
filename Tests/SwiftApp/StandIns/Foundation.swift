// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// What DeviceClient uses of Apple's Foundation, written after Apple's reference: names, types and the first systems. It does
// nothing.
@_exported import Darwin

public typealias OSStatus = Int32

open class NSObject {
    public init() {}
    open func mutableCopy() -> Any { self }
}

public class NSLock: @unchecked Sendable {
    public init() {}
    public func lock() {}
    public func unlock() {}
}

public struct UUID: Sendable {
    public init() {}
    public var uuidString: String { "" }
}

public struct Data: RandomAccessCollection, Sendable {
    private var bytes: [UInt8] = []
    public init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
    public var startIndex: Int { 0 }
    public var endIndex: Int { bytes.count }
    public subscript(index: Int) -> UInt8 { bytes[index] }
}

extension String {
    public struct Encoding: Sendable {
        public static let utf8 = Encoding()
    }

    public init?(data: Data, encoding: Encoding) { self.init(decoding: data, as: UTF8.self) }
}

open class UserDefaults: NSObject {
    public class var standard: UserDefaults { UserDefaults() }
    public override init() {}
    public init?(suiteName: String?) {}
    open func string(forKey name: String) -> String? { nil }
    open func set(_ value: Any?, forKey name: String) {}
}

public struct URL: Sendable {
    public init?(string: String) {}
}

public struct URLRequest: Sendable {
    public enum CachePolicy: Sendable { case useProtocolCachePolicy, reloadIgnoringLocalCacheData }
    public init(url: URL) {}
    public var httpMethod: String?
    public var httpBody: Data?
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
}

public struct URLError: Error {
    public struct Code: Equatable, Sendable {
        public let rawValue: Int
        public static let cancelled = Code(rawValue: -999)
    }

    public let code: Code
}

open class URLResponse: NSObject, @unchecked Sendable {}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    open var statusCode: Int { 0 }
    open var allHeaderFields: [AnyHashable: Any] { [:] }
}

public class URLCache: NSObject {}
public class HTTPCookieStorage: NSObject {}
public class URLCredentialStorage: NSObject {}

open class URLSessionConfiguration: NSObject {
    public class var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }
    open var urlCache: URLCache?
    open var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    open var httpCookieStorage: HTTPCookieStorage?
    open var httpShouldSetCookies = true
    open var urlCredentialStorage: URLCredentialStorage?
    open var timeoutIntervalForRequest: Double = 60
    open var timeoutIntervalForResource: Double = 604_800
}

open class URLSessionTask: NSObject, @unchecked Sendable {}

public protocol URLSessionDelegate: Sendable {}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?
}

open class URLSession: NSObject, @unchecked Sendable {
    public init(configuration: URLSessionConfiguration) {}
    open func finishTasksAndInvalidate() {}

    @available(macOS 12.0, iOS 15.0, *)
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { throw URLError(code: .cancelled) }
}
