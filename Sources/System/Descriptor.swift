// SPDX-License-Identifier: Apache-2.0
import Glibc

/// One open file descriptor with one owner: closed when its last reference goes.
package final class Descriptor: Sendable {
    /// The number to hand to system calls; only this value closes it.
    package let number: Int32

    /// - Parameter number: an open descriptor, which this value alone owns from here on.
    package init(owning number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }
}
