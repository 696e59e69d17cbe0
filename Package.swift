// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// Every target of ours: a warning is an error.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
/// A room whose files say which of their imports its own users meet.
let room = strict + [.enableUpcomingFeature("InternalImportsByDefault")]

// What an app's client needs.
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
// What only the server needs: a package that asks for the client alone (`traits: []`) fetches none of it.
let server = TargetDependencyCondition.when(traits: ["Server"])
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: server)
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto", condition: server)
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto", condition: server)
let logging = Target.Dependency.product(name: "Logging", package: "swift-log", condition: server)

/// Whether to build the tests that start programs and wait for them (requests through real servers, kills), and the programs that
/// only these, script/bench and script/torture start. `script/test --all` and script/build set the variable. A package of its own
/// would compile a second time all that they import.
let hasBlackBox = Context.environment["APP_BACKEND_BLACK_BOX"] == "1"
/// Folders of test targets that are left out otherwise.
let blackBox = hasBlackBox ? [] : ["BlackBox"]

let package = Package(
    name: "app-backend",
    // Of the app's side (docs/build/receive-ios.md). The server runs on Linux.
    platforms: [.macOS(.v12), .iOS(.v15)],
    products: [
        .executable(name: "app-backend", targets: ["app-backend"]),
        // What an app imports; no C library beneath it.
        .library(name: "DeviceClient", targets: ["DeviceClient", "DeviceAPI", "HTTP"]),
    ],
    traits: [
        .trait(name: "Server", description: "The responder, its commands, and the packages that these need."),
        .default(enabledTraits: ["Server"]),
    ],
    // Exact versions: what these bring along is in script/dependencies, which script/test compares with what was resolved.
    dependencies: [
        // Sub-commands, --help and exit codes of the executable.
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        // One log line per event on standard error, with a level and metadata; the handler is ours.
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        // HMAC-SHA256 for access signatures and the credential cache; of its extras RS256, for Google's sign-in.
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        // The vocabulary of HTTP (methods, field names, statuses), shared with every other Swift HTTP library.
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    ],
    targets: [
        // C libraries, one door each.
        .systemLibrary(name: "CFastCGI", pkgConfig: "fcgi", providers: [.apt(["libfcgi-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // The library that Debian's libcurl speaks TLS by.
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        // Without pkgConfig: libpq is opened when it is needed, not linked.
        .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CPlatform", providers: [.apt(["libcrypt-dev"])]),

        // Threads, locks, descriptors, and the one way to wait.
        .target(name: "System", dependencies: ["CPlatform"], swiftSettings: strict),

        // Words: bytes and texts, times, and the two languages that documents are written in.
        .target(name: "Text", swiftSettings: strict),
        .target(name: "XML", dependencies: ["CExpat"], swiftSettings: strict),
        .target(name: "JSON", dependencies: ["Text"], swiftSettings: strict),
        .target(name: "HTTP", dependencies: ["Text", httpTypes], swiftSettings: strict),
        .target(name: "DeviceAPI", dependencies: ["HTTP", "JSON", "Text", httpTypes], swiftSettings: strict),

        // The door in and the door out.
        .target(
            name: "FastCGI",
            dependencies: ["CFastCGI", "CPlatform", "HTTP", "System", "Text", httpTypes, logging], swiftSettings: strict
        ),
        .target(
            name: "Curl", dependencies: ["CCurl", "COpenSSL", "HTTP", "System", "Text", httpTypes],
            swiftSettings: strict),

        // What is counted, and its text for Prometheus; each decorator has the shape of what it counts.
        .target(
            name: "Metrics",
            dependencies: ["AppBackend", "FileStore", "HTTP", "NotificationHub", "Push", "Store", "System", httpTypes],
            swiftSettings: strict),

        // State.
        .target(name: "Store", dependencies: ["JSON", "Text"], swiftSettings: strict),
        .target(
            name: "FileStore", dependencies: ["CPlatform", "JSON", "Store", "System", "Text"], swiftSettings: strict),

        .target(
            name: "PostgresStore", dependencies: ["CPostgres", "JSON", "Store", "System", "Text"], swiftSettings: strict
        ),

        // The hub: the port, its language and its client; one of our own, and the REST face that serves it.
        .target(
            name: "NotificationHub", dependencies: ["HTTP", "JSON", "System", "Text", "XML", crypto, httpTypes],
            swiftSettings: strict),
        .target(
            name: "BuiltInHub", dependencies: ["HTTP", "JSON", "NotificationHub", "Push", "Store", "System", "Text"],
            swiftSettings: strict),
        .target(
            name: "HubServer", dependencies: ["HTTP", "JSON", "NotificationHub", "System", "Text", "XML", httpTypes],
            swiftSettings: strict),

        // What a hub must know of a push service.
        .target(
            name: "Push", dependencies: ["HTTP", "JSON", "NotificationHub", "System", "Text", httpTypes],
            swiftSettings: strict),

        // A push service that needs no vendor's account: browsers.
        .target(
            name: "WebPush",
            dependencies: ["HTTP", "JSON", "NotificationHub", "Push", "System", "Text", crypto, httpTypes],
            swiftSettings: strict),

        // Apple's push service.
        .target(
            name: "APNs",
            dependencies: ["HTTP", "JSON", "NotificationHub", "Push", "System", "Text", crypto, httpTypes],
            swiftSettings: room),

        // Google's and Microsoft's push services.
        .target(
            name: "FCM",
            dependencies: [
                "HTTP", "JSON", "NotificationHub", "Push", "Text", crypto, cryptoExtras, httpTypes,
            ],
            swiftSettings: room),
        .target(
            name: "WNS", dependencies: ["HTTP", "NotificationHub", "Push", "Text", "XML", httpTypes],
            swiftSettings: room),

        // Bearer tokens of identity providers.
        .target(
            name: "JWT", dependencies: ["HTTP", "JSON", "System", "Text", crypto, cryptoExtras, httpTypes],
            swiftSettings: room),

        // The tutorial's two halves.
        .target(
            name: "AppBackend",
            dependencies: [
                "CPlatform", "DeviceAPI", "HTTP", "JSON", "JWT", "NotificationHub", "Store", "System", "Text", "XML",
                crypto, httpTypes, logging,
            ],
            swiftSettings: room),
        .target(
            name: "DeviceClient", dependencies: ["DeviceAPI", "HTTP", "JSON", "Text", httpTypes], swiftSettings: strict),

        // One running responder: its configuration, the rooms introduced to each other, and what watches over them.
        .target(
            name: "Server",
            dependencies: [
                "APNs", "AppBackend", "BuiltInHub", "CPlatform", "Curl", "FCM", "FastCGI", "FileStore", "HTTP",
                "HubServer", "JSON", "JWT", "Metrics", "NotificationHub", "PostgresStore", "Push", "Store", "System",
                "Text", "WNS", "WebPush", httpTypes, logging,
            ],
            swiftSettings: room),

        // What an operator types: one file a command.
        .target(
            name: "Commands",
            dependencies: [
                "AppBackend", "CPlatform", "Curl", "DeviceAPI", "FastCGI", "FileStore", "HTTP", "JSON", "JWT",
                "NotificationHub", "PostgresStore", "Push", "Server", "Store", "System", "Text", "WebPush", httpTypes,
                logging, argumentParser,
            ],
            swiftSettings: room),

        .executableTarget(name: "app-backend", dependencies: ["Commands"], swiftSettings: strict),

        // What every store must do.
        .target(
            name: "StoreContract", dependencies: ["JSON", "Store", "Support", "Text"], path: "Tests/StoreContract",
            swiftSettings: strict),
        // What every hub must do.
        .target(
            name: "HubContract", dependencies: ["NotificationHub"], path: "Tests/HubContract", swiftSettings: strict),
        // What tests share: numbers that are the same in every run, processes that a test starts and waits for with a
        // deadline, a PostgreSQL server of the tests' own, a store in memory.
        .target(
            name: "Support", dependencies: ["CPlatform", "JSON", "Store", "System", "Text", logging],
            path: "Tests/Support",
            swiftSettings: strict),
        // One test room per room, then the whole arrow: in one process, and through nginx, FastCGI and libcurl.
        .testTarget(name: "SystemTests", dependencies: ["System"], swiftSettings: strict),
        .testTarget(name: "JSONTests", dependencies: ["JSON", "Support"], swiftSettings: strict),
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", "Text", httpTypes], swiftSettings: strict),
        .testTarget(
            name: "FastCGITests",
            dependencies: ["CPlatform", "FastCGI", "HTTP", "Support", "System", "Text", httpTypes, logging],
            swiftSettings: strict),
        .testTarget(
            name: "CurlTests",
            dependencies: [
                "APNs", "CPlatform", "Curl", "HTTP", "JSON", "NotificationHub", "Support", "System", "Text", crypto,
                httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(name: "TextTests", dependencies: ["Support", "Text"], swiftSettings: strict),
        .testTarget(name: "StoreTests", dependencies: ["Store"], swiftSettings: strict),
        .testTarget(
            name: "FileStoreTests",
            dependencies: ["FileStore", "JSON", "Store", "StoreContract", "Support", "System", "Text"],
            exclude: ["Fixtures"] + blackBox, swiftSettings: strict),
        .testTarget(
            name: "PostgresStoreTests",
            dependencies: [
                "JSON", "PostgresStore", "Store", "StoreContract", "Support", "System", "Text",
            ],
            exclude: blackBox, swiftSettings: strict),
        .testTarget(
            name: "MetricsTests",
            dependencies: ["FileStore", "HTTP", "Metrics", "NotificationHub", "Push", "Store", "System", httpTypes],
            swiftSettings: strict),
        .testTarget(
            name: "NotificationHubTests",
            dependencies: ["HTTP", "JSON", "NotificationHub", "Support", "System", "Text", "XML", httpTypes],
            swiftSettings: strict),
        .testTarget(
            name: "WebPushTests",
            dependencies: [
                "HTTP", "JSON", "NotificationHub", "Push", "Support", "System", "Text", "WebPush", crypto, httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "APNsTests",
            dependencies: [
                "APNs", "HTTP", "JSON", "NotificationHub", "Push", "Support", "System", "Text", crypto, httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PushTests", dependencies: ["HTTP", "Push", "System", "Text", httpTypes], swiftSettings: strict),
        .testTarget(
            name: "FCMTests",
            dependencies: [
                "FCM", "HTTP", "JSON", "NotificationHub", "Push", "System", "Text", crypto, cryptoExtras, httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WNSTests",
            dependencies: ["HTTP", "NotificationHub", "Push", "System", "Text", "WNS", httpTypes],
            swiftSettings: strict),
        .testTarget(
            name: "JWTTests",
            dependencies: ["HTTP", "JSON", "JWT", "System", "Text", crypto, cryptoExtras, httpTypes],
            swiftSettings: strict),
        .testTarget(
            name: "BuiltInHubTests",
            dependencies: [
                "BuiltInHub", "FileStore", "HTTP", "HubContract", "HubServer", "JSON", "NotificationHub",
                "PostgresStore", "Push", "Store", "Support", "System", "Text", httpTypes,
            ],
            exclude: blackBox, swiftSettings: strict),
        .testTarget(
            name: "AppBackendTests",
            dependencies: [
                "AppBackend", "DeviceAPI", "HTTP", "NotificationHub", "Store", "Support", "System", httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "AppBackend", "DeviceAPI", "FastCGI", "HTTP", "JSON", "Metrics", "NotificationHub", "Push", "Server",
                "Store", "Support", "WebPush", httpTypes, logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CommandsTests",
            dependencies: [
                "AppBackend", "BuiltInHub", "Commands", "Curl", "DeviceAPI", "FastCGI", "FileStore", "HTTP", "JSON",
                "JWT", "NotificationHub", "PostgresStore", "Push", "Server", "Store", "System", "Text", httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FlowTests",
            dependencies: [
                "AppBackend", "BuiltInHub", "DeviceAPI", "DeviceClient", "FileStore", "HTTP", "HubServer", "JSON",
                "JWT",
                "Metrics", "NotificationHub", "Push", "Store", "Support", "System", "Text", crypto, httpTypes, logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WireTests",
            dependencies: [
                "Curl", "DeviceAPI", "DeviceClient", "FastCGI", "HTTP", "HubContract", "JSON", "NotificationHub",
                "Support", "System", "Text", httpTypes, logging,
            ],
            exclude: blackBox, swiftSettings: strict),
        .testTarget(
            name: "DeviceClientTests", dependencies: ["DeviceAPI", "DeviceClient", "HTTP", httpTypes],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

if hasBlackBox {
    package.targets += [
        // Writes until it is killed and says what was acknowledged; started by the tests of both stores.
        .executableTarget(
            name: "store-oracle", dependencies: ["FileStore", "JSON", "PostgresStore", "Store", "Text"],
            path: "Tests/StoreOracle",
            swiftSettings: strict),
        // What a file store does in a second; started by script/bench.
        .executableTarget(
            name: "store-bench", dependencies: ["FileStore", "Store", "Support", "Text"],
            path: "Tests/Bench/StoreBench",
            swiftSettings: strict),
        // Says what the drivers for FCM and WNS would send; started by Tests/Doubles.
        .executableTarget(
            name: "driver-oracle",
            dependencies: ["FCM", "HTTP", "JSON", "NotificationHub", "Push", "Text", "WNS", httpTypes],
            path: "Tests/DriverOracle", swiftSettings: strict),
        // Browsers' keys, and what a push costs before it is sent; started by script/bench.
        .executableTarget(
            name: "web-push-bench", dependencies: ["NotificationHub", "Text", "WebPush", crypto],
            path: "Tests/Bench/WebPushBench",
            swiftSettings: strict),
        // Delivers until it is killed and says whom it told; started by BuiltInHubTests.
        .executableTarget(
            name: "delivery-oracle",
            dependencies: [
                "BuiltInHub", "FileStore", "HTTP", "NotificationHub", "PostgresStore", "Push", "Store", httpTypes,
            ],
            path: "Tests/DeliveryOracle", swiftSettings: strict),
    ]
}
