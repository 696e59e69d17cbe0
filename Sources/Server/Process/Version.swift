// SPDX-License-Identifier: Apache-2.0

/// The version of this program, as `--version` prints it and as it names itself to a hub.
package enum Version {
    package static let text = "0.1.0"
}
