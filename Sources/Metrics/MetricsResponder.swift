// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes

/// `GET /metrics`: all numbers as text. Who may ask is decided around it.
package struct MetricsResponder: Responder {
    private let exposition: @Sendable () -> [UInt8]

    package init(_ exposition: @escaping @Sendable () -> [UInt8]) {
        self.exposition = exposition
    }

    package func respond(to request: Request) -> Response {
        Response(fields: [.contentType: Exposition.contentType], body: exposition())
    }
}
