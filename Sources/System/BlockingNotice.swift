// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Receives the notice that a thread is about to block.
package protocol BlockingObserver: AnyObject, Sendable {
    /// Called on the thread that is about to block, possibly many times in a row: be quick.
    func threadWillBlock()
}

/// Tells the pool of the current thread that the thread is about to block, so that another thread can take its place.
///
/// Whatever may take longer than a moment posts it first: waiting for another thread, for the disk, for the network. On a
/// thread without an observer that does nothing.
package enum BlockingNotice {
    private final class Box {
        let observer: any BlockingObserver
        init(_ observer: any BlockingObserver) { self.observer = observer }
    }

    /// Nil where the process has no more of them; then no observer learns of anything.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { box in
            if let box { Unmanaged<Box>.fromOpaque(box).release() }
        }
        return pthread_key_create(&key, release) == 0 ? key : nil
    }()

    /// Makes it the observer of the current thread until the thread ends.
    package static func setObserver(_ observer: any BlockingObserver) {
        guard let key else { return }
        if let former = pthread_getspecific(key) { Unmanaged<Box>.fromOpaque(former).release() }
        let box = Unmanaged.passRetained(Box(observer))
        if pthread_setspecific(key, box.toOpaque()) != 0 { box.release() }
    }

    /// The current thread is about to block.
    package static func post() {
        guard let key, let box = pthread_getspecific(key) else { return }
        Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().observer.threadWillBlock()
    }
}
