-- SPDX-License-Identifier: Apache-2.0
-- For wrk: `wrk ... URL -- [FILE [METHOD]]`. FILE has lines of a path, a blank and a body, which are PUT in turn. Ends with one
-- line of numbers: requests, microseconds, median and 99th percentile in microseconds, answers that were no success.

local puts = {}
local turn = 0

function init(arguments)
    if not arguments[1] then return end
    wrk.headers["Content-Type"] = "application/json"
    for line in io.lines(arguments[1]) do
        local path, body = line:match("^(%S+) (.*)$")
        table.insert(puts, wrk.format(arguments[2] or "PUT", path, nil, body))
    end
    request = function()
        turn = turn % #puts + 1
        return puts[turn]
    end
end

function done(summary, latency)
    local errors = summary.errors
    print(string.format(
        "numbers %d %d %d %d %d", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
