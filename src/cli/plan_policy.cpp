#include "cli/plan_policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "base/text.h"
#include "cli/manifest.h"
#include "cli/plan_text.h"
#include "cli/session.h"
#include "plan/change_json.h"
#include "plan/endpoint_json.h"

namespace fairlead::cli {
namespace {

const json::Array& array_at(const json::Value& value, std::string_view path) {
    static const json::Array none;
    const auto* found = json::find(value, path);
    return found != nullptr && found->is_array() ? found->get_array() : none;
}

std::string at(const json::Value& value, std::string_view path) { return printable(json::string_at(value, path)); }

double number_at(const json::Value& value, std::string_view path) {
    const auto* found = json::find(value, path);
    if (found == nullptr) return 0;
    return found->is_double() ? found->get_double() : static_cast<double>(json::int_at(value, path).value_or(0));
}

std::string padded(std::string text, std::size_t width) {
    const auto used = display_width(text);
    if (used < width) text.append(width - used, ' ');
    return text;
}

// What the server said about one namespace.
class PreviewText {
public:
    explicit PreviewText(const Terminal& terminal) : terminal_(terminal) {}

    Result<std::string> text(const json::Value& preview) {
        for (const auto& host : array_at(preview, "hosts")) {
            if (auto shown = add_host(host); !shown) return fail(shown.error());
        }
        for (const auto& policy : array_at(preview, "policies")) add_policy(policy);
        const auto changing = array_at(preview, "hosts").size();
        const auto staying = array_at(preview, "unchanged").size();
        if (!out_.empty()) out_ += '\n';
        if (const auto more = json::int_at(preview, "more").value_or(0); more > 0)
            out_ += fmt::format("{} more hosts would change; they are too many to show.\n", more);
        out_ +=
            terminal_.styled(changing == 0 ? fmt::format("Nothing would change, {} {} as before.", staying,
                                                         staying == 1 ? "host answers" : "hosts answer")
                                           : fmt::format("{} {} change, {} as before. Nothing was written.", changing,
                                                         changing == 1 ? "host would" : "hosts would", staying),
                             Style::bold);
        return std::move(out_) + '\n';
    }

private:
    Result<void> add_host(const json::Value& host) {
        if (!out_.empty()) out_ += '\n';
        auto head = fmt::format("zone {}, gateway {}", at(host, "zone"), at(host, "gateway"));
        if (const auto policy = at(host, "policy"); !policy.empty()) head += ", policy " + policy;
        out_ += terminal_.styled(fmt::format("Host {}:", at(host, "host")), Style::bold) + ' ' + head + "\n\n";
        auto changes = plan::changes_of_json(host);
        if (!changes) return fail(changes.error());
        // From the host down to the addresses.
        const auto level = [](const plan::Change& change) {
            const auto& subject = change.subject();
            const auto dots = std::count(subject.dns_name.begin(), subject.dns_name.end(), '.');
            return std::pair(dots, subject.record_type != "CNAME");
        };
        std::stable_sort(changes->begin(), changes->end(),
                         [&](const auto& a, const auto& b) { return level(a) < level(b); });
        out_ += changes_text(*changes, terminal_);
        for (const auto& kept : array_at(host, "kept")) {
            const auto* endpoint = json::find(kept, "endpoint");
            if (endpoint == nullptr) continue;
            out_ +=
                terminal_.styled(fmt::format("= {:<5} {}  kept until {}, when caches have forgotten it",
                                             at(*endpoint, "recordType"), at(*endpoint, "dnsName"), at(kept, "until")),
                                 Style::dim) +
                '\n';
        }
        add_unhealthy(host);
        add_moves(array_at(host, "moves"));
        return {};
    }

    void add_unhealthy(const json::Value& host) {
        std::vector<std::string> down;
        for (const auto& each : array_at(host, "unhealthy")) {
            if (each.is_string()) down.push_back(printable(json::view(each.get_string())));
        }
        if (!down.empty()) out_ += terminal_.styled("! do not work: " + join(down, ", "), Style::red) + '\n';
    }

    // For each place how many move, and between which targets.
    void add_moves(const json::Array& moves) {
        if (moves.empty()) return;
        out_ += '\n' + terminal_.styled("Clients that get another answer:", Style::bold) + '\n';
        std::size_t places = 0, targets = 0;
        for (const auto& move : moves) {
            places = std::max(places, display_width(place_of(move)));
            for (const auto& share : array_at(move, "shares"))
                targets = std::max(targets, display_width(at(share, "target")));
        }
        constexpr std::size_t percent_width = 6;
        for (const auto& move : moves) {
            const auto moved = number_at(move, "moved");
            auto first =
                fmt::format("  {}  {:>{}}", padded(place_of(move), places), percent_text(moved), percent_width);
            const std::string below(places + percent_width + 4, ' ');
            bool is_first = true;
            for (const auto& share : array_at(move, "shares")) {
                const auto before = percent_text(number_at(share, "before"));
                const auto after = percent_text(number_at(share, "after"));
                out_ += fmt::format(
                    "{}  {}  {}\n",
                    is_first ? terminal_.styled(first, moved > 0 ? Style::yellow : Style::plain) : below,
                    padded(at(share, "target"), targets), before == after ? before : before + " -> " + after);
                is_first = false;
            }
        }
    }
    static std::string place_of(const json::Value& move) {
        auto place = at(move, "place");
        return place == "*" ? "everywhere else" : place;
    }

    // The conditions that ask for somebody's eye, and the problems that they are about.
    void add_policy(const json::Value& policy) {
        std::vector<std::string> lines;
        for (const auto& condition : array_at(policy, "conditions")) {
            const bool good_when_true = json::string_at(condition, "type") != "NamesHidden";
            if ((json::string_at(condition, "status") == "True") == good_when_true) continue;
            lines.push_back(fmt::format("{}={}, {}: {}", at(condition, "type"), at(condition, "status"),
                                        at(condition, "reason"), at(condition, "message")));
        }
        if (lines.empty()) return;
        if (!out_.empty()) out_ += '\n';
        out_ += terminal_.styled(fmt::format("Policy {} would say:", at(policy, "name")), Style::bold) + '\n';
        for (const auto& line : lines) out_ += "  " + terminal_.styled(line, Style::yellow) + '\n';
    }

    const Terminal& terminal_;
    std::string out_;
};

// "objects[1]: ..." becomes "policy.yaml, document 2: ...".
std::string placed(const std::string& message, const std::vector<const Manifest*>& sent) {
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const auto mark = fmt::format("objects[{}]", i);
        const auto found = message.find(mark);
        if (found != std::string::npos) return sent[i]->where() + message.substr(found + mark.size());
    }
    return message;
}

// Manifests by namespace; what has none is part of each.
std::map<std::string, std::vector<const Manifest*>> by_namespace(const std::vector<Manifest>& manifests,
                                                                 const Session& session) {
    std::map<std::string, std::vector<const Manifest*>> groups;
    for (const auto& manifest : manifests) {
        if (manifest.kind() == "Cluster") continue;
        std::string space(json::string_at(manifest.object, "metadata.namespace"));
        groups[space.empty() || session.namespace_given ? session.name_space : space].push_back(&manifest);
    }
    if (groups.empty()) groups[session.name_space];
    for (auto& [space, group] : groups) {
        for (const auto& manifest : manifests) {
            if (manifest.kind() == "Cluster") group.push_back(&manifest);
        }
    }
    return groups;
}

int failed(Session& session, const std::string& message) {
    session.terminal.err << "error: " << printable(message) << '\n';
    return 1;
}

}  // namespace

int preview_manifests(const PlanOptions& options, Session& session) {
    if (!options.zone.empty() || options.cached) {
        return failed(session, "-f previews manifests; --zone and --cached are for zones at other providers");
    }
    const auto manifests = read_manifests(options.files, session.terminal.in);
    for (const auto& error : manifests.errors) session.terminal.err << error << '\n';
    if (!manifests.errors.empty()) return 1;
    if (manifests.objects.empty()) return failed(session, "no objects passed to plan");
    json::Array previews;
    bool changes = false;
    for (const auto& [space, group] : by_namespace(manifests.objects, session)) {
        json::Array objects;
        for (const auto* manifest : group) objects.push_back(manifest->object);
        json::Object body;
        body["objects"] = std::move(objects);
        auto answer = session.api.send("POST", "/dns/preview" + query_string({{"namespace", space}}), body);
        if (!answer) {
            auto failure = answer.error();
            failure.error.message = placed(failure.error.message, group);
            report(session, failure);
            return 1;  // 2 would say that there is something to change
        }
        changes = changes || !array_at(*answer, "hosts").empty();
        previews.push_back(std::move(*answer));
    }
    if (options.json) {
        json::Object all;
        all["previews"] = std::move(previews);
        session.terminal.out << json::pretty(all) << '\n';
        return changes ? 2 : 0;
    }
    for (std::size_t i = 0; i < previews.size(); ++i) {
        const auto text = PreviewText(session.terminal).text(previews[i]);
        if (!text) return failed(session, text.error().text());
        if (i > 0) session.terminal.out << '\n';
        if (previews.size() > 1) session.terminal.out << "Namespace " << at(previews[i], "namespace") << "\n\n";
        session.terminal.out << *text;
    }
    return changes ? 2 : 0;
}

}  // namespace fairlead::cli
