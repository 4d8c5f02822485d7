#include "proxy/haproxy/readback.h"

#include <algorithm>

#include "base/text.h"
#include "proxy/haproxy/book.h"

namespace fairlead::proxy::haproxy {

namespace {

constexpr std::int64_t maintenance = 0x01 | 0x02 | 0x20 | 0x40;  // forced, inherited, by resolution, by host name
constexpr std::int64_t draining = 0x08 | 0x10;                   // forced, inherited

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (const auto word : split(line, ' ')) {
        if (!word.empty()) words.push_back(word);
    }
    return words;
}

}  // namespace

std::map<std::string, std::vector<Server>> parse_servers(std::string_view answer) {
    // be_id be_name srv_id srv_name srv_addr op_state admin_state uweight ... port is the 19th
    constexpr std::size_t name = 1, server = 3, address = 4, admin = 6, weight = 7, port = 18;
    std::map<std::string, std::vector<Server>> found;
    for (const auto line : split(answer, '\n')) {
        const auto words = words_of(line);
        if (words.size() <= port || words[0].starts_with('#') || !parse_backend(words[name])) continue;
        const auto slot = words[server].starts_with('s') ? parse_int(words[server].substr(1)) : std::nullopt;
        if (!slot || *slot < 1 || *slot > 100'000) continue;
        auto& slots = found[std::string(words[name])];
        const auto index = static_cast<std::size_t>(*slot - 1);
        if (slots.size() <= index) slots.resize(index + 1);
        const auto state = parse_int(words[admin]).value_or(0);
        slots[index] = {.address = std::string(words[address]),
                        .port = static_cast<std::uint16_t>(parse_int(words[port]).value_or(0)),
                        .weight = static_cast<std::uint16_t>(parse_int(words[weight]).value_or(0)),
                        .admin = (state & maintenance) != 0 ? Admin::maint
                                 : (state & draining) != 0  ? Admin::drain
                                                            : Admin::ready};
    }
    return found;
}

FoundMap parse_map(std::string_view answer) {
    FoundMap found;
    for (const auto line : split(answer, '\n')) {
        const auto words = words_of(line);  // 0x55d0c8a0 key value
        if (words.size() != 3 || !words[0].starts_with("0x")) continue;
        const auto [entry, added] = found.entries.emplace(words[1], words[2]);
        if (!added) found.twice.emplace_back(words[1]);
    }
    return found;
}

std::map<std::string, std::string> parse_crt_list(std::string_view answer) {
    std::map<std::string, std::string> found;
    for (const auto line : split(answer, '\n')) {
        if (line.starts_with('#') || trim(line).empty()) continue;
        const auto words = words_of(line);  // file:line [options] host
        if (words.size() < 2) continue;
        found.emplace(words.back(), words.front().substr(0, words.front().rfind(':')));
    }
    return found;
}

std::string_view info_field(std::string_view answer, std::string_view name) {
    for (const auto line : split(answer, '\n')) {
        if (line.starts_with(name) && line.substr(name.size()).starts_with(':'))
            return trim(line.substr(name.size() + 1));
    }
    return {};
}

std::vector<int> parse_old_workers(std::string_view answer) {
    std::vector<int> found;
    bool old = false;
    for (const auto line : split(answer, '\n')) {
        if (line.starts_with('#')) {
            old = line.starts_with("# old workers");
            continue;
        }
        const auto words = words_of(line);
        if (!old || words.size() < 2 || words[1] != "worker") continue;
        if (const auto pid = parse_int(words[0])) found.push_back(static_cast<int>(*pid));
    }
    return found;
}

}  // namespace fairlead::proxy::haproxy
