// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Server
import WebPush

struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Generate keys.", subcommands: [VAPID.self])

    struct VAPID: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "vapid", abstract: "Create the Web Push (VAPID) key, once.",
            discussion: """
                Prints the public key, which is no secret; the page subscribes with it. The private key stays in the \
                file that webPush.privateKeyFile names, or in vapid.key in the folder of the store. A key that \
                exists is kept, and its public key is printed again.

                --rotate makes another key and keeps the former one in a file beside it, .former behind its name. Browsers \
                subscribe with the new key when their page is opened the next time; until then they are reached by the \
                former one, as long as it is kept. The service reads both at its next reload.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Make another key; the present one is kept for browsers that subscribed with it.")
        var rotate = false
        @Flag(
            help: "Delete the keys that were kept; browsers that need one are not reached until they subscribe again.")
        var dropFormer = false

        func validate() throws {
            if rotate && dropFormer {
                throw ValidationError("--rotate keeps what --drop-former deletes; give one of them")
            }
        }

        func run() throws {
            let configuration = try options.load()
            // Else another key would be made beside one that only was written wrongly.
            if let fault = configuration.channelFaults.first(where: { $0.key.lowercased().hasSuffix("privatekey") }) {
                throw CommandError(fault.description)
            }
            let key: VAPIDKey
            switch configuration.webPush.key {
            case .configuration(let configured):
                guard !rotate && !dropFormer else {
                    throw CommandError(
                        "The key is that of webPush.privateKey: put it into webPush.formerPrivateKey, and another there."
                    )
                }
                key = configured
                Terminal.printError("the key is that of webPush.privateKey; no file is made")
            case .file(let path):
                guard let file = PushService.keyFile(configuration) else {
                    throw CommandError(
                        "webPush.privateKeyFile must name a file: the state is in \(configuration.store).")
                }
                let name = file.path
                do {
                    key = try path == nil ? inStore(configuration, file) : beside(configuration, file)
                } catch let failure as VAPIDKeyFile.Failure {
                    throw CommandError("\(name) \(failure)")
                }
                Terminal.printError("the private key is in \(name)")
            }
            if configuration.webPush.subject == nil {
                Terminal.printError("webPush.subject \(PushService.missingSubject)")
            }
            print(key.publicKey)
        }

        /// In the folder of the store, as its owner.
        private func inStore(_ configuration: SiteConfiguration, _ file: VAPIDKeyFile) throws -> VAPIDKey {
            var configuration = configuration
            try StoreOwner.dropPrivileges(toOwnerOf: &configuration)
            // Makes the folder where there is none yet.
            _ = try Site.openStore(configuration, migrates: false) { Terminal.printError(of: $0) }
            return try work(on: PushService.keyFile(configuration) ?? file)
        }

        /// Elsewhere. What root makes is given to the owner of the store, as whom the service must read it.
        private func beside(
            _ configuration: SiteConfiguration, _ file: VAPIDKeyFile
        ) throws(VAPIDKeyFile.Failure) -> VAPIDKey {
            var store = stat()
            guard geteuid() == 0, let folder = configuration.store.folder, stat(folder, &store) == 0 else {
                return try work(on: file)
            }
            return try work(on: file, owner: (store.st_uid, store.st_gid))
        }

        private func work(
            on file: VAPIDKeyFile, owner: (user: uid_t, group: gid_t)? = nil
        ) throws(VAPIDKeyFile.Failure) -> VAPIDKey {
            if rotate { return try Self.rotate(file, owner: owner) }
            if dropFormer {
                Terminal.printError(try file.former.remove() ? "the former keys are deleted" : "no former key was kept")
            }
            return try keep(in: file, owner: owner)
        }

        /// The former key is kept before there is another: if the process ends in between, no key is lost.
        private static func rotate(
            _ file: VAPIDKeyFile, owner: (user: uid_t, group: gid_t)?
        ) throws(VAPIDKeyFile.Failure) -> VAPIDKey {
            let lock = try file.lockFolder()
            defer { close(lock) }
            let key = VAPIDKey()
            if let current = try file.read() {
                var former = try file.former.readAll()
                if former.first?.publicKey != current.publicKey { former.insert(current, at: 0) }
                guard former.count <= VAPIDKeyFile.maximumFormerKeys else {
                    throw .init(
                        description: "is not rotated: \(former.count - 1) former keys are kept; --drop-former first")
                }
                try file.former.replace(former, owner: owner)
            }
            try file.replace([key], owner: owner)
            return key
        }

        private func keep(
            in file: VAPIDKeyFile, owner: (user: uid_t, group: gid_t)? = nil
        ) throws(VAPIDKeyFile.Failure) -> VAPIDKey {
            if let key = try file.read() { return key }
            let key = VAPIDKey()
            if try file.create(key, owner: owner) { return key }
            // Another process was first, and its key counts.
            guard let theirs = try file.read() else { throw VAPIDKeyFile.Failure(description: "comes and goes") }
            return theirs
        }
    }
}
