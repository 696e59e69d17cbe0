// SPDX-License-Identifier: Apache-2.0

/// Prometheus' text, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).
package struct Exposition {
    /// What is said of the text over HTTP.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// What a family's numbers are.
    package enum Kind: String {
        case counter, gauge, histogram
    }

    package private(set) var bytes: [UInt8] = []

    package init() {
        bytes.reserveCapacity(16 << 10)
    }

    /// Begins a family; its samples follow.
    package mutating func family(_ name: MetricName, _ kind: Kind) {
        write("# HELP ")
        write(name.text)
        write(" ")
        // Of the compiler's making: no line break, no backslash.
        write(name.help)
        write("\n# TYPE ")
        write(name.text)
        write(" ")
        write(kind.rawValue)
        write("\n")
    }

    /// One number of a family of counters or gauges.
    package mutating func sample<Labels: LabelSet>(_ name: MetricName, _ labels: Labels, _ value: some SampleValue) {
        sample(name, suffix: "", Labels.names, labels.values, value)
    }

    /// A family of one gauge.
    package mutating func gauge(_ name: MetricName, _ value: some SampleValue) {
        family(name, .gauge)
        sample(name, NoLabels(), value)
    }

    /// A family of one counter.
    package mutating func counter(_ name: MetricName, _ value: some SampleValue) {
        family(name, .counter)
        sample(name, NoLabels(), value)
    }

    mutating func sample(
        _ name: MetricName, suffix: StaticString, _ labelNames: [StaticString], _ labelValues: [String],
        bound: String? = nil, _ value: some SampleValue
    ) {
        write(name.text)
        write(suffix)
        var separator: StaticString = "{"
        for (label, text) in zip(labelNames, labelValues) {
            write(separator)
            write(label)
            write("=\"")
            writeEscaped(text)
            write("\"")
            separator = ","
        }
        if let bound {
            write(separator)
            write("le=\"")
            write(bound)
            write("\"")
        }
        if bound != nil || !labelNames.isEmpty { write("}") }
        write(" ")
        write(value.sampleText)
        write("\n")
    }

    private mutating func write(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func write(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func writeEscaped(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): write("\\\\")
            case UInt8(ascii: "\""): write("\\\"")
            case UInt8(ascii: "\n"): write("\\n")
            default: bytes.append(byte)
            }
        }
    }
}

/// A number as the format spells it: as Go's `ParseFloat` reads it.
package protocol SampleValue {
    var sampleText: String { get }
}

extension Int: SampleValue {
    package var sampleText: String { String(self) }
}

extension Int64: SampleValue {
    package var sampleText: String { String(self) }
}

extension UInt64: SampleValue {
    package var sampleText: String { String(self) }
}

extension Bool: SampleValue {
    package var sampleText: String { self ? "1" : "0" }
}

extension Double: SampleValue {
    package var sampleText: String {
        if isNaN { return "NaN" }
        if isInfinite { return self < 0 ? "-Inf" : "+Inf" }
        return description
    }
}
