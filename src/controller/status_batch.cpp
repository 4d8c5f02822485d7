#include "controller/status_batch.h"

namespace fairlead::controller {

namespace {

constexpr std::chrono::milliseconds catch_up_wait{10};
constexpr std::chrono::seconds retry_wait{1};

}  // namespace

void write_statuses(control::Context& context, const resource::Kind& kind, std::vector<StatusWrite> writes,
                    KeyBatch& waiting, const std::function<void(std::size_t, const json::Value&)>& written) {
    if (writes.empty()) return;
    std::vector<control::Request> requests;
    requests.reserve(writes.size());
    for (auto& each : writes) {
        auto& request = requests.emplace_back();
        request.verb = control::Verb::update;
        request.object = control::object_id(kind, each.key);
        request.subresource = "status";
        request.body = std::move(each.object);
    }
    const auto answers = context.client().write_all(std::move(requests));
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i]) {
            written(i, *answers[i]);
            continue;
        }
        const auto& key = writes[i].key;
        const auto& error = answers[i].error();
        if (error.code == Errc::not_found) continue;
        const bool behind = error.code == Errc::conflict;
        if (!behind) {
            context.log().warn("cannot write the conditions of an object",
                               {{"kind", kind.name}, {"object", key}, {"why", error.text()}});
        }
        waiting.add_later(key);
        context.enqueue_after(key,
                              behind ? std::chrono::nanoseconds(catch_up_wait) : std::chrono::nanoseconds(retry_wait));
    }
}

}  // namespace fairlead::controller
