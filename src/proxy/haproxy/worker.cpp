#include "proxy/haproxy/worker.h"

#include <fmt/core.h>

#include "base/files.h"
#include "base/text.h"
#include "proxy/haproxy/readback.h"
#include "proxy/haproxy/render.h"

namespace fairlead::proxy::haproxy {

namespace {

constexpr std::chrono::milliseconds command_limit{10'000};
// A replacement of a large map goes out in payloads; each fits into HAProxy's buffer.
constexpr std::size_t max_payload_bytes = 14'000;

std::string one_line(std::string_view answer) {
    std::string text;
    for (const auto line : split(trim(answer), '\n')) {
        if (trim(line).empty()) continue;
        if (!text.empty()) text += "; ";
        text += trim(line);
    }
    return text;
}

}  // namespace

Result<int> Worker::answering() const {
    const auto info = ask_once(path("cli.sock"), "show info", std::chrono::milliseconds(2'000));
    if (!info) return fail(info.error());
    const auto pid = parse_int(info_field(*info, "Pid"));
    if (!pid) return fail(Errc::unavailable, "haproxy does not say its process id");
    return static_cast<int>(*pid);
}

Result<void> Worker::connect() {
    cli_.reset();
    auto cli = Cli::connect(path("cli.sock"), command_limit);
    if (!cli) return fail(cli.error());
    const auto info = cli->ask("show info");
    if (!info) return fail(info.error());
    pid_ = static_cast<int>(parse_int(info_field(*info, "Pid")).value_or(0));
    cli_ = std::move(*cli);
    return {};
}

Result<std::string> Worker::ask(std::string_view command) const {
    return ask_once(path("cli.sock"), command, command_limit);
}

Result<Image> Worker::read_back() {
    Image found;
    auto servers = ask("show servers state");
    if (!servers) return fail(servers.error());
    found.backends = parse_servers(*servers);
    for (const auto file : all_maps) {
        const auto name = escape(path(file_name(file)).string());
        auto answer = ask(fmt::format("show map {}", name));
        if (!answer) return fail(answer.error());
        auto map = parse_map(*answer);
        for (const auto& key : map.twice) {
            if (map.entries.erase(key) == 0) continue;
            auto gone = cli_->ask(fmt::format("del map {} {}", name, escape(key)));
            if (!gone) return fail(gone.error());
        }
        found.map(file) = std::move(map.entries);
    }
    if (!tls_) return found;
    auto list = ask(fmt::format("show ssl crt-list -n {}", path("crt-list").string()));
    if (!list) return fail(list.error());
    for (const auto& [host, file] : parse_crt_list(*list)) {
        // Written after the worker had it: as old as what it holds, or older. Gone: whatever it is, it is not wanted.
        found.certificates[host] = sha256_hex(read_file(file).value_or(""));
    }
    for (const auto& [backend, slots] : found.backends) {
        if (const auto pem = read_file(authority_path(directory_, backend))) {
            found.authorities[backend] = sha256_hex(*pem);
        }
    }
    return found;
}

Result<void> Worker::run(const std::vector<Command>& commands, Pushed& pushed) {
    const auto answers = cli_->run(commands);
    if (!answers) return fail(answers.error());
    pushed.commands += commands.size();
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (good_answer(commands[i].expect, (*answers)[i])) continue;
        if (pushed.errors++ == 0) pushed.first_error = fmt::format("{}: {}", commands[i].text, one_line((*answers)[i]));
    }
    return {};
}

Result<bool> Worker::tell(std::string_view command, std::string_view payload, std::string_view good, std::string& said,
                          Pushed& pushed) {
    auto answer = cli_->ask(command, payload);
    if (!answer) return fail(answer.error());
    ++pushed.commands;
    said = one_line(*answer);
    return said.find(good) != std::string::npos;
}

Result<void> Worker::replace(MapFile file, const MapEntries& entries, Pushed& pushed) {
    const auto name = path(file_name(file)).string();
    constexpr std::string_view made = "New version created: ";
    std::string said;
    auto prepared = tell(fmt::format("prepare map {}", name), {}, made, said, pushed);
    if (!prepared) return fail(prepared.error());
    if (!*prepared) {
        if (pushed.errors++ == 0) pushed.first_error = fmt::format("prepare map {}: {}", name, said);
        return {};
    }
    const auto version = said.substr(said.find(made) + made.size());
    std::string payload;
    const auto flush = [&]() -> Result<void> {
        if (payload.empty()) return {};
        auto added = tell(fmt::format("add map @{} {}", version, name), payload, "", said, pushed);
        if (!added) return fail(added.error());
        if (!said.empty() && pushed.errors++ == 0) pushed.first_error = fmt::format("add map {}: {}", name, said);
        payload.clear();
        return {};
    };
    for (const auto& [key, value] : entries) {
        // The lines of a payload are taken as they are: nothing is escaped in them.
        if (payload.size() + key.size() + value.size() + 2 > max_payload_bytes) {
            if (auto flushed = flush(); !flushed) return flushed;
        }
        payload += fmt::format("{} {}\n", key, value);
    }
    if (auto flushed = flush(); !flushed) return flushed;
    auto committed = tell(fmt::format("commit map @{} {}", version, name), {}, "", said, pushed);
    if (!committed) return fail(committed.error());
    if (!said.empty() && pushed.errors++ == 0) pushed.first_error = fmt::format("commit map {}: {}", name, said);
    return {};
}

Result<void> Worker::certificate(const PemChange& change, const std::string& pem, Pushed& pushed) {
    const auto file = certificate_path(directory_, change.name);
    const auto list = path("crt-list").string();
    std::string said;
    const auto say = [&](std::string_view command, std::string_view payload, std::string_view good) {
        return tell(command, payload, good, said, pushed);
    };
    if (change.remove) {
        auto unlisted = say(fmt::format("del ssl crt-list {} {}", list, file.string()), {}, "deleted");
        if (!unlisted) return fail(unlisted.error());
        auto gone = say(fmt::format("del ssl cert {}", file.string()), {}, "deleted");
        if (!gone) return fail(gone.error());
        std::error_code ignored;
        std::filesystem::remove(file, ignored);
        return {};
    }
    if (change.add) {
        // "already exists" is as good: an earlier try was cut short.
        if (auto made = say(fmt::format("new ssl cert {}", file.string()), {}, ""); !made) return fail(made.error());
    }
    auto set = say(fmt::format("set ssl cert {}", file.string()), pem, "ransaction");
    if (!set) return fail(set.error());
    auto committed = *set ? say(fmt::format("commit ssl cert {}", file.string()), {}, "Success") : set;
    if (!committed) return fail(committed.error());
    auto listed = *committed && change.add
                      ? say(fmt::format("add ssl crt-list {}", list), crt_list_line(directory_, change.name), "Success")
                      : committed;
    if (!listed) return fail(listed.error());
    if (*listed) return write_file(file, pem, 0600);
    pushed.refused_certificates[change.name] = said;
    if (auto aborted = say(fmt::format("abort ssl cert {}", file.string()), {}, ""); !aborted)
        return fail(aborted.error());
    if (change.add) {
        if (auto gone = say(fmt::format("del ssl cert {}", file.string()), {}, ""); !gone) return fail(gone.error());
    }
    return {};
}

Result<void> Worker::authority(const PemChange& change, const std::string& pem, Pushed& pushed) {
    const auto file = authority_path(directory_, change.name);
    std::string said;
    auto set = tell(fmt::format("set ssl ca-file {}", file.string()), pem, "ransaction", said, pushed);
    if (!set) return fail(set.error());
    auto committed =
        *set ? tell(fmt::format("commit ssl ca-file {}", file.string()), {}, "Success", said, pushed) : set;
    if (!committed) return fail(committed.error());
    if (*committed) return write_file(file, pem, 0600);
    pushed.refused_authorities[change.name] = said;
    auto aborted = tell(fmt::format("abort ssl ca-file {}", file.string()), {}, "", said, pushed);
    if (!aborted) return fail(aborted.error());
    return {};
}

Result<Pushed> Worker::push(const Work& work, const Image& wanted) {
    Pushed pushed;
    const auto pem = [](const std::map<std::string, std::string>& all, const std::string& name) {
        const auto found = all.find(name);
        return found == all.end() ? std::string{} : found->second;
    };
    if (auto done = run(work.servers, pushed); !done) return fail(done.error());
    for (const auto& change : work.authorities) {
        if (auto done = authority(change, pem(wanted.authorities, change.name), pushed); !done)
            return fail(done.error());
    }
    for (const auto& change : work.certificates) {
        if (change.remove) continue;
        if (auto done = certificate(change, pem(wanted.certificates, change.name), pushed); !done)
            return fail(done.error());
    }
    // Paths before hosts, as in work(): a host says that it has paths when they are there.
    for (const bool paths : {true, false}) {
        if (!paths) {
            if (auto done = run(work.names, pushed); !done) return fail(done.error());
        }
        for (const auto file : work.replace) {
            const bool of_paths =
                file == MapFile::paths || file == MapFile::wildcard_paths || file == MapFile::exact_paths;
            if (paths != of_paths) continue;
            if (auto done = replace(file, wanted.map(file), pushed); !done) return fail(done.error());
        }
    }
    for (const auto& change : work.certificates) {
        if (!change.remove) continue;
        if (auto done = certificate(change, {}, pushed); !done) return fail(done.error());
    }
    return pushed;
}

}  // namespace fairlead::proxy::haproxy
