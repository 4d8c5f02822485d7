// A list on its way to the client: its pieces as text, and for a large one a stream that renders slices of the snapshot
// as the client takes them. So a slow reader of a huge list costs a slice and a snapshot, not the whole text.
// ListWriter is used by a worker's thread, ListStream by its session's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/filter.h"
#include "apiserver/media.h"
#include "base/clock.h"
#include "net/http.h"
#include "store/store.h"

namespace fairlead::apiserver {

class ListWriter {
public:
    ListWriter(const resource::Kind& kind, Form form, WallTime now);

    // Everything before the first item.
    [[nodiscard]] std::string opening(store::Revision revision, std::string_view token,
                                      std::optional<std::uint64_t> remaining) const;
    // One item in the form that was asked for, without the comma.
    Outcome<void> add(const store::Object& object, std::string& out) const;
    static constexpr std::string_view closing = "]}";

private:
    const resource::Kind* kind_;
    Form form_;
    WallTime now_;
    std::string prefix_;
};

struct ListPlan {
    ListWriter writer;
    Filter filter;
    store::Snapshot snapshot;
    std::string begun;  // the opening and the first items
    std::string from;   // the rest are the matches from this name on...
    std::string to;     // ...and before this one; "" = all
};

class ListStream final : public net::StreamBody {
public:
    explicit ListStream(ListPlan plan) : plan_(std::move(plan)) {}
    void start(std::function<void()> /*wake*/) override {}  // never waits
    Next pull(std::string& out) override;

private:
    ListPlan plan_;
};

}  // namespace fairlead::apiserver
