// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
    name: "Example",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [
        // In a package of your own: .package(url: "https://forge.example.com/app-backend.git", from: "0.1.0", traits: [])
        .package(name: "app-backend", path: "../..", traits: []),
        // HMAC on Linux; Apple's systems have it in CryptoKit.
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    ],
    targets: [
        .executableTarget(
            name: "Example",
            dependencies: [
                .product(name: "DeviceClient", package: "app-backend"),
                .product(name: "Crypto", package: "swift-crypto"),
            ])
    ]
)
