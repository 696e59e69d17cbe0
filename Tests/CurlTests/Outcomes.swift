// SPDX-License-Identifier: Apache-2.0
import Curl
import Foundation
import HTTP

import class System.Lock

/// Collects what completions are told, and how often.
final class Outcomes: Sendable {
    private let results = Lock<[Int: [Result<Response, any Error>]]>([:])
    private let arrivals = DispatchSemaphore(value: 0)

    struct Missing: Error { let count: Int }

    /// A completion for the call of that number.
    func completion(_ number: Int) -> @Sendable (Result<Response, any Error>) -> Void {
        { [self] result in
            results.withLock { $0[number, default: []].append(result) }
            arrivals.signal()
        }
    }

    /// Sleeps until as many completions were called.
    /// - Throws: `Missing`, when that takes too long.
    func wait(for count: Int) throws {
        let end = DispatchTime.now() + .seconds(Patience.seconds)
        for number in 0..<count where arrivals.wait(timeout: end) == .timedOut {
            throw Missing(count: count - number)
        }
    }

    /// How often the completion of each call was called.
    var calls: [Int: Int] { results.withLock { $0.mapValues(\.count) } }

    /// What each call's first completion was told; nil for an answer.
    var errors: [TransportError?] {
        results.withLock { results in
            results.sorted { $0.key < $1.key }.map { _, results in
                if case .failure(let error)? = results.first { error as? TransportError } else { nil }
            }
        }
    }

    /// The calls that are said to be unsent, and are among the requests that came to a server. Their paths are their
    /// numbers.
    func arrivedUnsent(_ requests: [String]) -> [Int] {
        errors.enumerated().filter { number, error in
            error == .noConnectionInTime && requests.contains { $0.hasPrefix("GET /\(number) ") }
        }.map(\.offset)
    }

    /// The status of each call's answer; nil for an error.
    var statuses: [Int?] {
        results.withLock { results in
            results.sorted { $0.key < $1.key }.map { try? $0.value.first?.get().status.code }
        }
    }

    /// What went wrong with each call that brought no answer.
    var failures: [any TransportFailure] {
        results.withLock { results in
            results.sorted { $0.key < $1.key }.compactMap { _, results in
                if case .failure(let error)? = results.first { error as? any TransportFailure } else { nil }
            }
        }
    }

    /// The bodies of the answers.
    var bodies: [String] {
        results.withLock { results in
            results.sorted { $0.key < $1.key }.compactMap { _, results in
                (try? results.first?.get()).map { String(decoding: $0.body, as: UTF8.self) }
            }
        }
    }
}
