// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The process itself, under the names that all of Prometheus' clients use. What the system does not tell is left out.
package struct ProcessReadings: Collector {
    private static let startTime = MetricName(
        "process_start_time_seconds", "Start of the process, in seconds since 1970.")
    private static let processorTime = MetricName(
        "process_cpu_seconds_total", "Processor time of all threads, in user and kernel mode.")
    private static let resident = MetricName("process_resident_memory_bytes", "Resident memory.")
    private static let virtual = MetricName("process_virtual_memory_bytes", "Virtual memory.")
    private static let openDescriptors = MetricName("process_open_fds", "Open file descriptors.")
    private static let maximumDescriptors = MetricName("process_max_fds", "Maximum number of open file descriptors.")

    private let startedAt: Double

    /// - Parameter startedAt: seconds since 1970.
    package init(startedAt: Double) {
        self.startedAt = startedAt
    }

    package func collect(into exposition: inout Exposition) {
        exposition.gauge(Self.startTime, startedAt)
        var time = timespec()
        if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 {
            exposition.counter(Self.processorTime, Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
        }
        if let (virtual, resident) = Self.memory {
            exposition.gauge(Self.virtual, virtual)
            exposition.gauge(Self.resident, resident)
        }
        if let count = Self.descriptorCount { exposition.gauge(Self.openDescriptors, count) }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            exposition.gauge(Self.maximumDescriptors, UInt64(limit.rlim_cur))
        }
    }

    /// The first two numbers of `/proc/self/statm` (proc(5)): pages of address space, and of RAM.
    private static var memory: (virtual: Int, resident: Int)? {
        guard let file = fopen("/proc/self/statm", "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let pages = text.split(separator: " ").compactMap { Int($0) }
        guard pages.count >= 2 else { return nil }
        let size = sysconf(Int32(_SC_PAGESIZE))
        return (
            pages[0].multipliedReportingOverflow(by: size).partialValue,
            pages[1].multipliedReportingOverflow(by: size).partialValue
        )
    }

    /// Without the one that looks.
    private static var descriptorCount: Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = -1
        while let entry = readdir(folder) {
            // Neither `.` nor `..`: the others are numbers.
            if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
        }
        return count
    }
}
