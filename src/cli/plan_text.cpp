#include "cli/plan_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "cli/terminal.h"

namespace fairlead::cli {
namespace {

char mark_of(plan::Action action) {
    switch (action) {
        case plan::Action::create:
            return '+';
        case plan::Action::update:
            return '~';
        case plan::Action::remove:
            return '-';
    }
    return ' ';
}

Style style_of(plan::Action action) {
    switch (action) {
        case plan::Action::create:
            return Style::green;
        case plan::Action::update:
            return Style::yellow;
        case plan::Action::remove:
            return Style::red;
    }
    return Style::plain;
}

// "A     www.example.com (cluster/blue)  192.0.2.1 192.0.2.2  TTL 300": types in a column, as most have few letters.
std::string title(const dns::Endpoint& endpoint, bool with_data) {
    auto text = fmt::format("{:<5} {}", endpoint.record_type, endpoint.dns_name);
    if (!endpoint.set_identifier.empty()) text += fmt::format(" ({})", endpoint.set_identifier);
    if (with_data) {
        text += "  " + join(endpoint.targets, " ");
        if (endpoint.ttl) text += fmt::format("  TTL {}", *endpoint.ttl);
        for (const auto& property : endpoint.properties) text += fmt::format("  {}={}", property.name, property.value);
    }
    return printable(text);
}

std::string why(std::string_view reason, std::string_view message) {
    return printable(message.empty() ? std::string(reason) : fmt::format("{}: {}", reason, message));
}

class Writer {
public:
    explicit Writer(const Terminal& terminal, bool reasons = true) : terminal_(terminal), reasons_(reasons) {}

    void changes(const std::vector<plan::Change>& list) {
        for (const auto& change : list) {
            const bool update = change.action == plan::Action::update;
            out_ += terminal_.styled(fmt::format("{} {}", mark_of(change.action), title(change.subject(), !update)),
                                     style_of(change.action));
            // An update says what differs below; the sentence would say it twice.
            const auto reason =
                update && !change.differences.empty() ? change.reason : why(change.reason, change.message);
            out_ += (reasons_ ? "  " + terminal_.styled(reason, Style::dim) : std::string()) + '\n';
            for (const auto& each : change.differences) {
                out_ += fmt::format("      {}: {} -> {}\n", printable(each.field), shown(each.before, Style::red),
                                    shown(each.after, Style::green));
            }
        }
    }

    void heading(std::string_view text) {
        if (!out_.empty()) out_ += '\n';
        out_ += terminal_.styled(text, Style::bold) + '\n';
    }

    void skips(const std::vector<plan::Skip>& list) {
        for (const auto& skip : list) {
            out_ += fmt::format("  {}  {}\n", title(skip.endpoint, true),
                                terminal_.styled(why(skip.reason, skip.message), Style::dim));
        }
    }

    void line(std::string_view text) { out_ += std::string(text) + '\n'; }
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    [[nodiscard]] std::string shown(std::string_view value, Style style) const {
        return terminal_.styled(value.empty() ? "(none)" : printable(value), style);
    }
    const Terminal& terminal_;
    const bool reasons_;
    std::string out_;
};

std::size_t count(const std::vector<plan::Change>& changes, plan::Action action) {
    return static_cast<std::size_t>(
        std::count_if(changes.begin(), changes.end(), [&](const auto& each) { return each.action == action; }));
}

}  // namespace

std::string plan_text(const PlanView& view, const Terminal& terminal) {
    Writer writer(terminal);
    writer.changes(view.changes);
    if (!view.held.empty()) {
        writer.heading("Held back:");
        writer.line(printable(view.held_message));
        writer.changes(view.held);
    }
    if (!view.ownership.empty()) {
        writer.heading("Ownership records:");
        writer.changes(view.ownership);
    }
    if (!view.skipped.empty()) {
        writer.heading("Left alone:");
        writer.skips(view.skipped);
    }
    if (!view.problems.empty()) {
        writer.heading("Problems:");
        for (const auto& problem : view.problems) writer.line("  " + printable(problem));
    }
    const bool nothing = view.changes.empty() && view.held.empty();
    writer.heading(nothing ? fmt::format("Nothing to change, {} left alone.", view.skipped.size())
                           : fmt::format("{} to create, {} to update, {} to delete{}, {} left alone.",
                                         count(view.changes, plan::Action::create),
                                         count(view.changes, plan::Action::update),
                                         count(view.changes, plan::Action::remove),
                                         view.held.empty() ? "" : fmt::format(", {} held back", view.held.size()),
                                         view.skipped.size()));
    return writer.take();
}

std::string changes_text(const std::vector<plan::Change>& changes, const Terminal& terminal) {
    Writer writer(terminal, false);
    writer.changes(changes);
    return writer.take();
}

}  // namespace fairlead::cli
