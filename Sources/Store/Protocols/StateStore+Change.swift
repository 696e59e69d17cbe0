// SPDX-License-Identifier: Apache-2.0
package import Text

extension User {
    /// How often a change is tried again, when another process has changed the same user meanwhile.
    package static let maximumAttempts = 16
}

extension StateStore {
    /// Writes what `make` makes of the record of that name, as it is then.
    /// - Returns: the user as stored.
    /// - Throws: what `make` throws; `StoreError`, also `conflict` when others change the same user all the time.
    @discardableResult
    package func changeUser(_ name: String, _ make: (User?) throws -> User) throws -> User {
        for _ in 0..<User.maximumAttempts {
            let user = try make(try userRecord(name))
            do throws(StoreError) {
                return try putUser(user)
            } catch {
                guard error == .conflict else { throw error }
            }
        }
        throw StoreError.conflict
    }
}

extension StateStore {
    /// Marks a registered device as gone. One that is marked already keeps its time and its reason.
    /// - Parameters:
    ///   - isAtHub: whether the caller removes its registration from the local hub afterwards, and then calls `noteRemoved(_:)`. If the
    ///     process ends before that, the store's sweep removes the registration.
    ///   - isSoStill: is asked after the record was read; false: the device was registered again meanwhile.
    /// - Throws: `StoreError`, also `conflict` when others change the same record all the time.
    package func noteGone(
        _ id: String, reason: String, now: Timestamp, isAtHub: Bool = false,
        if isSoStill: () throws(StoreError) -> Bool = { true }
    ) throws(StoreError) {
        for _ in 0..<User.maximumAttempts {
            guard var device = try device(id), device.isLive, try isSoStill() else { return }
            device.gone = DeviceRecord.Gone(at: max(now, device.updatedAt), reason: reason)
            device.needsReconciliation = device.needsReconciliation || isAtHub
            do throws(StoreError) {
                _ = try putDevice(device)
                return
            } catch {
                guard error == .conflict else { throw error }
            }
        }
        throw .conflict
    }

    /// Notes that the local hub no longer has the registration of a device that is gone. If the note is lost, the sweep makes it.
    package func noteRemoved(_ id: String) throws(StoreError) {
        guard var device = try device(id), device.isGone, device.needsReconciliation else { return }
        device.needsReconciliation = false
        do throws(StoreError) {
            _ = try putDevice(device, durably: false)
        } catch {
            // A device that is registered again is not gone any more.
            guard error == .conflict else { throw error }
        }
    }
}

extension SessionStore {
    /// Ends the owner's session of that shown id.
    /// - Returns: whether there was one.
    package func removeSession(shown id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        var isEnded = false
        for session in try sessions(owner: owner, now: now) where session.shownID == id {
            if try removeSession(session.id) { isEnded = true }
        }
        return isEnded
    }
}

extension Session {
    /// So much of the id tells a user's sessions apart, in hexadecimal digits. They are of the SHA-256 of 256 random bits,
    /// which the cookie holds and the store does not.
    package var shownID: String { String(id.prefix(16)) }
}
