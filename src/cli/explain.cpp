// `fairlead explain`: which DNS answers a name gets, as a tree of the names on the way.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/explain_health.h"
#include "cli/session.h"

namespace fairlead::cli {
namespace {

double number_at(const json::Value& value, std::string_view path) {
    const auto* found = json::find(value, path);
    if (found == nullptr) return 0;
    if (found->is_double()) return found->get_double();
    return static_cast<double>(json::int_at(value, path).value_or(0));
}

std::vector<std::string> texts_at(const json::Value& value, std::string_view path) {
    std::vector<std::string> texts;
    const auto* found = json::find(value, path);
    if (found == nullptr || !found->is_array()) return texts;
    for (const auto& each : found->get_array()) {
        if (each.is_string()) texts.push_back(printable(json::view(each.get_string())));
    }
    return texts;
}

std::string padded(std::string text, std::size_t width) {
    const auto used = display_width(text);
    if (used < width) text.append(width - used, ' ');
    return text;
}

// Whether the way leads through the tree of a Gateway, whose levels have names.
bool is_tree(const json::Value& way) {
    std::vector<const json::Value*> waiting{&way};
    while (!waiting.empty()) {
        const auto* one = waiting.back();
        waiting.pop_back();
        const auto level = json::string_at(*one, "level");
        if (level == "loadBalancer" || level == "place" || level == "cluster") return true;
        const auto* variants = json::find(*one, "variants");
        if (variants == nullptr || !variants->is_array()) continue;
        for (const auto& variant : variants->get_array()) {
            if (const auto* next = json::find(variant, "next")) waiting.push_back(next);
        }
    }
    return false;
}

std::string without_dot(std::string text) {
    if (text.size() > 1 && text.back() == '.') text.pop_back();
    return text;
}

class Explanation {
public:
    Explanation(const Terminal& terminal, const std::vector<AddressHealth>& health, bool tree)
        : terminal_(terminal), health_(health), tree_(tree) {}

    std::string text(const json::Value& said) {
        head(said);
        out_ += '\n';
        if (const auto* way = json::find(said, "way")) step(*way, "", "");
        out_ += '\n';
        answers(said);
        return std::move(out_);
    }

private:
    void head(const json::Value& said);
    void answers(const json::Value& said);
    void step(const json::Value& one, const std::string& first, const std::string& rest);
    // What the checks say of the addresses, or of a cluster's own host name, one line each.
    void checks(const std::string& cluster, const std::vector<std::string>& addresses, const std::string& rest);
    [[nodiscard]] std::vector<std::string> addresses_of(const std::string& cluster) const;
    [[nodiscard]] std::string label(const json::Value& one) const;
    [[nodiscard]] std::vector<std::string> cells(const json::Value& variant, std::string_view type) const;
    static std::string why(const json::Value& one);
    static std::string at(const json::Value& value, std::string_view path) {
        return printable(json::string_at(value, path));
    }
    void line(std::string_view label, std::string_view value) {
        out_ += fmt::format("{}{}\n", terminal_.styled(padded(std::string(label), 9), Style::bold), value);
    }

    const Terminal& terminal_;
    const std::vector<AddressHealth>& health_;
    const bool tree_;
    std::map<std::string, std::string> clusters_;  // by the name where their way ends
    std::string out_;
};

void Explanation::head(const json::Value& said) {
    line("Name:", fmt::format("{} {}", at(said, "name"), at(said, "type")));
    line("Zone:", fmt::format("{}, serial {}", at(said, "zone"), json::int_at(said, "serial").value_or(0)));
    std::vector<std::string> place;
    for (const auto* part : {"client.place.continent", "client.place.country", "client.place.subdivision"}) {
        if (auto text = at(said, part); !text.empty()) place.push_back(std::move(text));
    }
    const auto where = place.empty() ? std::string("an unknown place") : join(place, ", ");
    const auto found_by = at(said, "client.foundBy");
    if (found_by == "address") {
        line("Client:",
             fmt::format("{}, at {} (as all of {})", at(said, "client.from"), where, at(said, "client.network")));
    } else if (found_by == "code") {
        const bool lacks = at(said, "client.place.continent").empty() && !at(said, "client.place.country").empty();
        line("Client:", fmt::format("somebody at {}{}", where, lacks ? "; the continent is not known" : ""));
    } else {
        line("Client:", "somebody at an unknown place (--from says who asks)");
    }
    if (!json::bool_at(said, "byPlace")) return line("Answer:", "the same for every place");
    const auto scope = json::int_at(said, "scope");
    line("Answer:", scope ? fmt::format("depends on the place; to a client subnet it has scope {}", *scope)
                          : std::string("depends on the place"));
}

// Share, identifier, policy, TTL, data, why not.
std::vector<std::string> Explanation::cells(const json::Value& variant, std::string_view type) const {
    const bool chosen = json::find(variant, "whyNot") == nullptr;
    std::vector<std::string> policy;
    if (const auto geo = at(variant, "geo"); !geo.empty()) policy.push_back("geo " + geo);
    if (const auto weight = json::int_at(variant, "weight")) policy.push_back(fmt::format("weight {}", *weight));
    auto data = texts_at(variant, "data");
    const auto unhealthy = texts_at(variant, "unhealthy");
    for (auto& each : data) {
        if (std::find(unhealthy.begin(), unhealthy.end(), each) != unhealthy.end()) {
            each += terminal_.styled(" (unhealthy)", Style::red);
        }
    }
    return {chosen ? percent_text(number_at(variant, "share")) : "-",
            at(variant, "setIdentifier"),
            join(policy, ", "),
            fmt::format("TTL {}", json::int_at(variant, "ttl").value_or(0)),
            fmt::format("{} {}", type, join(data, ", ")),
            at(variant, "whyNot")};
}

// Of a set without a policy there is nothing to say, and a reason need not name the name again.
std::string Explanation::why(const json::Value& one) {
    const auto* variants = json::find(one, "variants");
    if (variants != nullptr && variants->is_array() && variants->get_array().size() == 1) {
        const auto& only = variants->get_array()[0];
        const bool policy = json::find(only, "setIdentifier") != nullptr || json::find(only, "geo") != nullptr ||
                            json::find(only, "weight") != nullptr || json::find(only, "unhealthy") != nullptr;
        if (!policy) return {};
    }
    auto text = at(one, "why");
    if (text.empty()) return {};
    const auto name = at(one, "name") + " ";
    return "  " + (text.starts_with(name) ? text.substr(name.size()) : text);
}

// "place IE ": what the name is in the tree of a Gateway.
std::string Explanation::label(const json::Value& one) const {
    if (!tree_) return {};
    const auto level = json::string_at(one, "level");
    if (level == "host") return "host ";
    if (level == "loadBalancer") return "load balancer ";
    if (level == "place") return fmt::format("place {} ", at(one, "place").empty() ? "*" : at(one, "place"));
    if (level == "cluster") return fmt::format("cluster {} ", at(one, "cluster"));
    return {};
}

std::vector<std::string> Explanation::addresses_of(const std::string& cluster) const {
    std::vector<std::string> list;
    for (const auto& each : health_) {
        if (printable(each.cluster) == cluster) list.push_back(each.address);
    }
    return list;
}

void Explanation::checks(const std::string& cluster, const std::vector<std::string>& addresses,
                         const std::string& rest) {
    std::vector<const AddressHealth*> known;
    std::size_t width = 0;
    for (const auto& address : addresses) {
        for (const auto& each : health_) {
            const bool same = equal_ignoring_case(each.address, without_dot(address));
            if (!same || (!cluster.empty() && printable(each.cluster) != cluster)) continue;
            known.push_back(&each);
            width = std::max(width, display_width(printable(each.address)));
            break;
        }
    }
    for (const auto* each : known) {
        const bool good = each->state == "Healthy";
        const bool bad = each->state == "Unhealthy";
        auto text = terminal_.styled(good  ? "healthy"
                                     : bad ? "unhealthy"
                                           : "not known yet",
                                     good  ? Style::green
                                     : bad ? Style::red
                                           : Style::yellow);
        if (const auto since = from_rfc3339(each->since)) {
            const auto age = std::chrono::duration_cast<std::chrono::seconds>(terminal_.clock.now() - *since);
            text += fmt::format(" since {} ({} ago)", printable(each->since), human_duration(age));
        }
        if (!each->last_answer.empty()) text += ", " + printable(each->last_answer);
        if (each->reason == "ClusterStale") text += ", nothing is heard of its cluster";
        out_ += fmt::format("{}{} {}  {}\n", rest, each == known.back() ? "└─" : "├─",
                            padded(printable(each->address), width), text);
    }
}

// `first` stands before the line with the name, `rest` before all below it. Calls itself for each link of a chain.
void Explanation::step(const json::Value& one, const std::string& first, const std::string& rest) {
    const auto wildcard = at(one, "wildcard");
    out_ +=
        fmt::format("{}{}{}{}{}\n", first, label(one), terminal_.styled(at(one, "name"), Style::bold),
                    wildcard.empty() ? "" : fmt::format(" (by {})", wildcard), terminal_.styled(why(one), Style::dim));
    const auto cluster = at(one, "cluster");
    if (!cluster.empty()) clusters_.emplace(at(one, "name"), cluster);
    const auto* variants = json::find(one, "variants");
    if (variants == nullptr || !variants->is_array()) return;
    const auto& list = variants->get_array();
    if (list.empty()) return checks(cluster, {at(one, "name")}, rest);
    std::vector<std::vector<std::string>> rows;
    constexpr std::size_t aligned = 4;  // data and why not may be long, and stand as they come
    std::vector<std::size_t> widths(aligned, 0);
    for (const auto& variant : list) {
        rows.push_back(cells(variant, at(one, "type")));
        for (std::size_t i = 0; i < aligned; ++i) widths[i] = std::max(widths[i], display_width(rows.back()[i]));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& row = rows[i];
        const bool last = i + 1 == rows.size();
        std::string text = std::string(widths[0] - display_width(row[0]), ' ') + row[0];
        for (std::size_t column = 1; column < aligned; ++column) {
            if (widths[column] > 0) text += "  " + padded(row[column], widths[column]);
        }
        text += "  " + row[4];
        const bool chosen = row[5].empty();
        if (!chosen) text += "  not chosen: " + row[5];
        out_ += fmt::format("{}{} {}\n", rest, last ? "└─" : "├─", chosen ? text : terminal_.styled(text, Style::dim));
        if (const auto* next = json::find(list[i], "next")) {
            const auto below = rest + (last ? "   " : "│  ");
            step(*next, below + "└─ ", below + "   ");
        } else if (tree_) {
            const auto below = rest + (last ? "   " : "│  ");
            if (cluster.empty() && json::string_at(one, "level") == "place") {
                // Not followed, and just then people want to know why.
                checks(at(list[i], "setIdentifier"), addresses_of(at(list[i], "setIdentifier")), below);
            } else {
                checks(cluster, texts_at(list[i], "data"), below);
            }
        }
    }
}

void Explanation::answers(const json::Value& said) {
    out_ += terminal_.styled("Answers:", Style::bold) + '\n';
    const auto* outcomes = json::find(said, "outcomes");
    if (outcomes == nullptr || !outcomes->is_array()) return;
    constexpr std::size_t aligned = 3;
    std::vector<std::vector<std::string>> rows;
    std::vector<std::size_t> widths(aligned, 0);
    for (const auto& outcome : outcomes->get_array()) {
        // The records at the end of the chain are what the client came for.
        std::vector<std::string> data;
        std::string end;
        if (const auto* answer = json::find(outcome, "answer"); answer != nullptr && answer->is_array()) {
            const auto& records = answer->get_array();
            if (!records.empty()) {
                const bool leads_on = at(records.back(), "type") == "CNAME";
                end = without_dot(at(records.back(), leads_on ? "data" : "name"));
            }
            for (const auto& record : records) {
                if (at(record, "name") == at(records.back(), "name")) {
                    data.push_back(fmt::format("{} {}", at(record, "type"), at(record, "data")));
                }
            }
        }
        const auto why = texts_at(outcome, "why");
        if (data.empty() && !why.empty()) data.push_back(why.back());
        const auto ttl = json::int_at(outcome, "ttl");
        const auto cluster = clusters_.find(end);
        rows.push_back({percent_text(number_at(outcome, "probability")), at(outcome, "rcode"),
                        ttl ? fmt::format("kept {} s", *ttl) : std::string("not kept"),
                        join(data, ", ") + (cluster == clusters_.end() ? "" : "  cluster " + cluster->second)});
        for (std::size_t i = 0; i < aligned; ++i) widths[i] = std::max(widths[i], rows.back()[i].size());
    }
    for (const auto& row : rows) {
        out_ += fmt::format("  {:>{}}  {:<{}}  {:<{}}  {}\n", row[0], widths[0], row[1], widths[1], row[2], widths[2],
                            row[3]);
    }
    if (!json::bool_at(said, "complete")) out_ += "  and more: the tree has too many outcomes to show them all\n";
}

}  // namespace

int run_explain(const ExplainOptions& options, Session& session) {
    const auto said = session.api.get(
        "/dns/explain" + query_string({{"name", options.name}, {"type", options.type}, {"from", options.from}}));
    if (!said) return report(session, said.error());
    const auto* way = json::find(*said, "way");
    const bool tree = way != nullptr && is_tree(*way);
    std::vector<AddressHealth> health;
    if (tree) {
        const auto wildcard = json::string_at(*way, "wildcard");
        health = health_of(std::string(wildcard.empty() ? json::string_at(*way, "name") : wildcard), session);
    }
    if (options.json) {
        auto shown = *said;
        if (!health.empty()) json::set_at(shown, "health", health_json(health));
        session.terminal.out << json::pretty(shown) << '\n';
        return 0;
    }
    session.terminal.out << Explanation(session.terminal, health, tree).text(*said);
    return 0;
}

}  // namespace fairlead::cli
