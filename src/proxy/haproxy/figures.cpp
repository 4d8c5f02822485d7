#include "proxy/haproxy/figures.h"

#include <array>

#include "base/text.h"

namespace fairlead::proxy::haproxy {

namespace {

std::uint64_t grown(std::uint64_t before, std::uint64_t now) { return now >= before ? now - before : now; }

void add(PoolFigures& sum, const PoolFigures& before, const PoolFigures& now) {
    sum.requests += grown(before.requests, now.requests);
    sum.bytes_in += grown(before.bytes_in, now.bytes_in);
    sum.bytes_out += grown(before.bytes_out, now.bytes_out);
    sum.connect_errors += grown(before.connect_errors, now.connect_errors);
    for (const auto& [code, count] : now.codes) {
        const auto old = before.codes.find(code);
        sum.codes[code] += grown(old == before.codes.end() ? 0 : old->second, count);
    }
    sum.average_seconds = now.average_seconds;
    sum.active = now.active;
}

}  // namespace

std::map<std::string, PoolFigures> parse_statistics(std::string_view csv) {
    std::map<std::string, PoolFigures> found;
    std::map<std::string_view, std::size_t> columns;
    for (auto line : split(csv, '\n')) {
        if (line.starts_with("# ")) {
            const auto names = split(line.substr(2), ',');
            for (std::size_t i = 0; i < names.size(); ++i) columns.emplace(names[i], i);
            continue;
        }
        const auto cells = split(line, ',');
        const auto number = [&](std::string_view column) -> std::uint64_t {
            const auto index = columns.find(column);
            if (index == columns.end() || index->second >= cells.size()) return 0;
            return static_cast<std::uint64_t>(parse_int(cells[index->second]).value_or(0));
        };
        if (cells.size() < 2 || cells[1] != "BACKEND" || !parse_backend(cells[0])) continue;
        auto& one = found[std::string(cells[0])];
        const auto requests = number("req_tot");
        one.requests = requests > 0 ? requests : number("stot");  // a TCP backend counts connections
        one.bytes_in = number("bin");
        one.bytes_out = number("bout");
        one.connect_errors = number("econ");
        constexpr std::array<std::string_view, 5> codes{"hrsp_1xx", "hrsp_2xx", "hrsp_3xx", "hrsp_4xx", "hrsp_5xx"};
        for (std::size_t i = 0; i < codes.size(); ++i) {
            if (const auto count = number(codes.at(i)); count > 0) one.codes[static_cast<int>(i) + 1] = count;
        }
        one.average_seconds = static_cast<double>(number("ttime")) / 1000;
        one.active = number("scur");
    }
    return found;
}

void Figures::take(std::string_view csv, int pid, const Book& book) {
    auto now = parse_statistics(csv);
    if (pid != pid_) backends_.clear();
    pid_ = pid;
    std::map<std::string, PoolFigures> pools;
    for (const auto& [backend, figures] : now) {
        const auto* pool = book.pool_of(backend);
        if (pool == nullptr) continue;
        const auto [mine, added] = pools.try_emplace(*pool);
        if (added) {
            if (const auto old = pools_.find(*pool); old != pools_.end()) mine->second = old->second;
            mine->second.active = 0;
        }
        const auto active = mine->second.active;
        add(mine->second, backends_[backend], figures);
        mine->second.active += active;  // a pool may have two for a while
    }
    pools_ = std::move(pools);
    backends_ = std::move(now);
}

}  // namespace fairlead::proxy::haproxy
