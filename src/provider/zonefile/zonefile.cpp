#include "provider/zonefile/zonefile.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/text.h"
#include "provider/plain.h"
#include "provider/provider_metrics.h"
#include "provider/zonefile/command.h"
#include "provider/zonefile/head.h"
#include "provider/zonefile/master_file.h"

namespace fairlead::provider::zonefile {

namespace {

using dns::RecordType;

// In place of this word of the reload command stands the name of the zone.
constexpr std::string_view zone_word = "{zone}";

class Zonefile final : public Provider {
public:
    Zonefile(const ZoneSettings& settings, const Surroundings& surroundings, const Limits& limits)
        : settings_(settings),
          rules_(plain_rules_of(settings)),
          path_(settings.zonefile.path),
          pending_(settings.zonefile.path + ".pending"),
          around_(surroundings),
          limits_(limits),
          metrics_(surroundings.metrics, surroundings.clock, settings.provider) {}

    // Reading costs little, because the file is only read again when it has changed.
    [[nodiscard]] Supports supports() const override { return {.types = plain_types(), .reads_names = true}; }
    Result<Listing> list(const std::optional<std::vector<std::string>>& names) override;
    [[nodiscard]] Result<dns::Endpoint> canonicalise(const dns::Endpoint& endpoint) const override {
        return plain_canonical(endpoint, rules_);
    }
    std::vector<Outcome> apply(std::span<const plan::ChangeGroup> groups) override;
    [[nodiscard]] std::vector<std::string> name_servers() const override {
        return name_servers_of(zone_.sets, settings_.apex);
    }

private:
    Result<void> read();
    Result<void> reload();
    Result<void> write(const MasterFile& zone);

    ZoneSettings settings_;
    PlainRules rules_;
    std::filesystem::path path_, pending_;
    Surroundings around_;
    Limits limits_;
    ProviderMetrics metrics_;
    MasterFile zone_;    // what the file says
    std::string stamp_;  // of the file when it was read; empty: there was none
    bool known_ = false;
};

Result<void> Zonefile::read() {
    std::error_code ignored;
    if (std::filesystem::is_symlink(path_, ignored)) {
        return fail(Errc::invalid, "spec.zonefile.file", fmt::format("{} is a symbolic link", path_.string()));
    }
    const auto stamp = file_stamp(path_);
    if (known_ && stamp == stamp_) return {};
    known_ = false;
    MasterFile zone;
    if (!stamp.empty()) {
        const auto text = read_file(path_);
        if (!text) return fail(Errc::unavailable, text.error().message);
        auto parsed = parse_master_file(*text, settings_.apex);
        if (!parsed) {
            return fail(
                Errc::invalid, "spec.zonefile.file",
                fmt::format("{}: {}; nothing is written until this is mended", path_.string(), parsed.error().text()));
        }
        zone = std::move(*parsed);
    }
    zone_ = std::move(zone);
    stamp_ = stamp;
    known_ = true;
    return {};
}

// If the file was written and the server has not been told.
Result<void> Zonefile::reload() {
    std::error_code ignored;
    if (settings_.zonefile.reload_command.empty() || !std::filesystem::exists(pending_, ignored)) return {};
    auto words = settings_.zonefile.reload_command;
    for (auto& word : words) {
        if (word == zone_word) word = settings_.apex.host();
    }
    auto request = metrics_.begin("reload");
    auto done = run_command(words, limits_.reload, around_.clock);
    request.done(done ? "ok" : result_text(done.error().code));
    if (!done) return fail(Errc::unavailable, fmt::format("the file is written, but {}", done.error().message));
    std::filesystem::remove(pending_, ignored);
    return {};
}

Result<void> Zonefile::write(const MasterFile& zone) {
    if (file_stamp(path_) != stamp_) {
        return fail(Errc::conflict, fmt::format("{} was changed by somebody else just now", path_.string()));
    }
    if (!settings_.zonefile.reload_command.empty()) {
        if (auto noted = write_file(pending_, ""); !noted) return fail(Errc::unavailable, noted.error().message);
    }
    auto request = metrics_.begin("write");
    auto written = write_file(path_, master_file_text(zone, settings_.apex, settings_.default_ttl));
    request.done(written ? "ok" : "unavailable");
    if (!written) return fail(Errc::unavailable, written.error().message);
    return {};
}

Result<Listing> Zonefile::list(const std::optional<std::vector<std::string>>& names) {
    auto request = metrics_.begin("read");
    const auto had = read();
    request.done(had ? "ok" : result_text(had.error().code));
    if (!had) return fail(had.error());
    if (auto reloaded = reload(); !reloaded) return fail(std::move(reloaded.error()));
    const auto serial = serial_of(zone_, settings_.apex);
    Listing listing;
    listing.version = serial ? std::to_string(*serial) : "";
    if (!names) {
        listing.endpoints = endpoints_of(zone_.sets, settings_.apex);
        return listing;
    }
    std::set<dns::Name> wanted;
    for (const auto& text : *names) {
        if (auto name = dns::Name::parse(text)) wanted.insert(std::move(*name));
    }
    listing.endpoints = endpoints_of(zone_.sets, settings_.apex, &wanted);
    return listing;
}

bool has_other_types(const MasterFile& zone, const dns::Name& name) {
    return std::any_of(zone.others.begin(), zone.others.end(),
                       [&](const OtherRecord& record) { return record.name == name; });
}

// What stands at a name of which `changes` are done, besides a CNAME; and whether there is one.
Result<void> check_alias(const MasterFile& zone, const dns::Name& name) {
    const auto first = zone.sets.lower_bound({name, RecordType{}});
    std::size_t sets = 0;
    bool alias = false;
    for (auto at = first; at != zone.sets.end() && at->first.first == name; ++at) {
        ++sets;
        alias = alias || at->first.second == RecordType::cname;
    }
    if (!alias || (sets == 1 && !has_other_types(zone, name))) return {};
    return fail(Errc::conflict, fmt::format("{} would have a CNAME beside other records", name.host()));
}

// Does the changes if everything is as they believe; `zone` is spoilt otherwise.
Result<void> change(MasterFile& zone, const SetChanges& changes) {
    for (const auto& [key, each] : changes) {
        const auto found = zone.sets.find(key);
        const bool there = found != zone.sets.end();
        if (there != each.before.has_value() || (there && found->second.data != each.before->data)) {
            return fail(Errc::conflict, fmt::format("{} {} is not in the file as it was read", key.first.host(),
                                                    dns::type_text(key.second)));
        }
        if (there) zone.sets.erase(found);
        if (each.after) zone.sets.emplace(key, *each.after);
    }
    for (const auto& [key, each] : changes) {
        if (auto checked = check_alias(zone, key.first); !checked) return checked;
    }
    return {};
}

// All of the changes, or none of them.
Result<void> change_or_leave(MasterFile& zone, const SetChanges& changes) {
    PlainSets before;
    for (const auto& [key, each] : changes) {
        if (const auto found = zone.sets.find(key); found != zone.sets.end()) before.insert(*found);
    }
    auto done = change(zone, changes);
    if (done) return done;
    for (const auto& [key, each] : changes) zone.sets.erase(key);
    zone.sets.merge(before);
    return done;
}

std::vector<Outcome> Zonefile::apply(std::span<const plan::ChangeGroup> groups) {
    using State = Outcome::State;
    std::vector<Outcome> outcomes(groups.size());
    const auto all = [&](const Error& error) {
        const auto state = error.code == Errc::conflict ? State::conflict : State::unavailable;
        for (auto& outcome : outcomes) {
            if (outcome.state == State::applied) outcome = {state, {}, error.text()};
        }
        return outcomes;
    };
    if (const auto had = read(); !had) return all(had.error());
    MasterFile zone = zone_;
    bool changed = false;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto changes = set_changes_of(groups[i], rules_);
        if (!changes) {
            outcomes[i] = {State::refused, {}, changes.error().text()};
            continue;
        }
        if (auto done = change_or_leave(zone, *changes); !done) {
            outcomes[i] = {State::conflict, {}, fmt::format("{}: {}", path_.string(), done.error().text())};
            continue;
        }
        changed = changed || !changes->empty();
    }
    if (changed) {
        const auto now = std::chrono::duration_cast<std::chrono::seconds>(around_.clock.now().time_since_epoch());
        const auto serial = next_serial(serial_of(zone_, settings_.apex), static_cast<std::uint64_t>(now.count()));
        if (auto set = set_head(zone, settings_, serial); !set) return all(set.error());
        if (auto written = write(zone); !written) return all(written.error());
        zone_ = std::move(zone);
        stamp_ = file_stamp(path_);
        for (auto& outcome : outcomes) {
            if (outcome.state == State::applied) outcome.change_id = fmt::format("serial {}", serial);
        }
    }
    if (auto reloaded = reload(); !reloaded) return all(reloaded.error());
    return outcomes;
}

}  // namespace

Result<std::unique_ptr<Provider>> make(const ZoneSettings& settings, const Surroundings& surroundings,
                                       const Limits& limits) {
    const std::filesystem::path path(settings.zonefile.path);
    if (path.empty() || !path.has_filename()) return fail(Errc::invalid, "spec.zonefile.file", "names no file");
    if (std::find(path.begin(), path.end(), "..") != path.end()) {
        return fail(Errc::invalid, "spec.zonefile.file", fmt::format("{} leaves its folder", path.string()));
    }
    return std::make_unique<Zonefile>(settings, surroundings, limits);
}

Providers::Make maker(const Surroundings& surroundings) {
    return [surroundings](const ZoneSettings& settings) { return make(settings, surroundings); };
}

}  // namespace fairlead::provider::zonefile
