#include "cli/follow.h"

#include <fmt/core.h>

#include "cli/terminal.h"

namespace fairlead::cli {
namespace {

// 0.25 s, then doubled up to 4 s: together over a minute, longer than a restart of the server takes.
constexpr int max_failures_in_a_row = 20;
constexpr std::chrono::milliseconds first_pause{250};
constexpr std::chrono::milliseconds longest_pause{4'000};

bool is_transient(const Failure& failure) {
    return failure.error.code == Errc::unavailable || failure.error.code == Errc::timeout || failure.status >= 500;
}

class Following {
public:
    Following(Api& api, FollowOptions options, const Follower& follower)
        : api_(api), options_(std::move(options)), follower_(follower) {}

    Answer<bool> run() {
        for (bool first = true;; first = false) {
            const auto left = time_left();
            // With no time at all there is still one look at the state.
            const bool looks = first && options_.revision.empty();
            if (left && left->count() <= 0 && !looks) return false;
            auto failure = options_.revision.empty() ? list() : watch(left);
            if (finished_) return true;
            if (!failure) {
                failures_ = 0;
            } else if (failure->status == 410) {
                options_.revision.clear();
            } else if (auto given_up = pause(*failure)) {
                return tl::unexpected(std::move(*given_up));
            }
        }
    }

private:
    [[nodiscard]] std::optional<std::chrono::milliseconds> time_left() const {
        if (!options_.deadline) return std::nullopt;
        const auto left = *options_.deadline - api_.terminal().clock.monotonic();
        return std::chrono::ceil<std::chrono::milliseconds>(left);
    }

    // A failure is returned, success is nothing.
    std::optional<Failure> list() {
        auto state = api_.list(options_.path, options_.query, options_.accept);
        if (!state) return std::move(state.error());
        options_.revision = revision_of(*state);
        finished_ = !follower_.on_list(*state);
        return std::nullopt;
    }

    std::optional<Failure> watch(std::optional<std::chrono::milliseconds> left) {
        Query query = options_.query;
        query.emplace_back("resourceVersion", options_.revision);
        std::optional<Failure> said;  // by an ERROR event
        bool heard = false;
        const auto on_event = [&](const json::Value& event) {
            const auto type = json::string_at(event, "type");
            const auto* object = json::find(event, "object");
            if (object == nullptr) return true;
            if (type == "ERROR") {
                const auto code = json::int_at(*object, "code").value_or(500);
                said = failure_from(static_cast<int>(code), json::serialize(*object));
                return false;
            }
            heard = true;
            if (auto revision = revision_of(*object); !revision.empty()) options_.revision = std::move(revision);
            if (type != "BOOKMARK") finished_ = !follower_.on_event(event);
            return !finished_;
        };
        auto ended = api_.watch(options_.path, query, options_.accept, on_event, left);
        if (heard) failures_ = 0;
        if (said) return said;
        if (!ended) return std::move(ended.error());
        // A server that ends every stream at once without an event must not be asked in a tight loop.
        if (!heard && !finished_ && !(time_left() && time_left()->count() <= 0)) sleep(first_pause);
        return std::nullopt;
    }

    // Waits before the next try, or gives the failure back when trying on is pointless.
    std::optional<Failure> pause(const Failure& failure) {
        if (!is_transient(failure) || ++failures_ > max_failures_in_a_row) return failure;
        sleep(std::min(longest_pause, first_pause * (1 << std::min(failures_ - 1, 8))));
        return std::nullopt;
    }

    void sleep(std::chrono::milliseconds pause) {
        const auto left = time_left();
        api_.terminal().sleep(left ? std::min(pause, std::max(*left, std::chrono::milliseconds{0})) : pause);
    }

    Api& api_;
    FollowOptions options_;
    const Follower& follower_;
    int failures_ = 0;
    bool finished_ = false;
};

}  // namespace

Answer<bool> follow(Api& api, FollowOptions options, const Follower& follower) {
    return Following(api, std::move(options), follower).run();
}

std::string revision_of(const json::Value& object) {
    if (const auto own = json::string_at(object, "metadata.resourceVersion"); !own.empty()) return std::string(own);
    const auto* rows = json::find(object, "rows");
    if (rows == nullptr || !rows->is_array() || rows->get_array().empty()) return {};
    return std::string(json::string_at(rows->get_array().front(), "object.metadata.resourceVersion"));
}

}  // namespace fairlead::cli
