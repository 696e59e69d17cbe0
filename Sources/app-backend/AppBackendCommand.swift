// SPDX-License-Identifier: Apache-2.0
@main struct AppBackendCommand { static func main() {} }
