// A JSON array of many records, rendered from one snapshot of the store: at once while it is small, else in slices
// while the client takes them, so that a slow reader of a long list costs a slice and a snapshot.
#pragma once

#include <functional>
#include <string>

#include "apiserver/receptor/answer.h"
#include "store/store.h"

namespace fairlead::apiserver::receptor {

// Appends one record and says true, or says false if the object is not to be shown.
using Render = std::function<bool(const store::Snapshot& all, const store::Object& object, std::string& out)>;

class RecordStream final : public net::StreamBody {
public:
    // Objects whose name starts with `prefix`.
    RecordStream(store::Snapshot snapshot, std::string prefix, Render render);

    void start(std::function<void()> /*wake*/) override {}  // never waits
    Next pull(std::string& out) override;

private:
    store::Snapshot snapshot_;
    std::string prefix_;
    Render render_;
    std::string from_;
    bool opened_ = false, any_ = false;
};

inline constexpr std::size_t stream_arrays_from = 1UL * 1024 * 1024;

// 200 with the array: with its length if that is below `stream_from` bytes, else as a stream.
Answer array_of(store::Snapshot snapshot, std::string prefix, Render render,
                std::size_t stream_from = stream_arrays_from);

}  // namespace fairlead::apiserver::receptor
