#include "apiserver/receptor/record_stream.h"

namespace fairlead::apiserver::receptor {

namespace {

constexpr std::size_t slice_bytes = 64UL * 1024;
constexpr std::size_t slice_objects = 256;  // looked at in one pull; each is parsed

// What was rendered already, then the rest.
class Continued final : public net::StreamBody {
public:
    Continued(std::string begun, std::unique_ptr<RecordStream> rest)
        : begun_(std::move(begun)), rest_(std::move(rest)) {}
    void start(std::function<void()> wake) override { rest_->start(std::move(wake)); }
    Next pull(std::string& out) override {
        if (begun_.empty()) return rest_->pull(out);
        out += std::exchange(begun_, {});
        return Next::data;
    }

private:
    std::string begun_;
    std::unique_ptr<RecordStream> rest_;
};

}  // namespace

RecordStream::RecordStream(store::Snapshot snapshot, std::string prefix, Render render)
    : snapshot_(std::move(snapshot)), prefix_(std::move(prefix)), render_(std::move(render)) {}

net::StreamBody::Next RecordStream::pull(std::string& out) {
    const auto before = out.size();
    if (!std::exchange(opened_, true)) out += '[';
    std::size_t examined = 0;
    bool all = true;
    snapshot_.scan(prefix_, from_, [&](const store::ObjectRef& object) {
        if (out.size() - before >= slice_bytes || ++examined > slice_objects) {
            from_ = object->name();
            return all = false;
        }
        const auto end = out.size();
        if (any_) out += ',';
        if (render_(snapshot_, *object, out)) {
            any_ = true;
        } else {
            out.resize(end);
        }
        return true;
    });
    if (all) {
        out += ']';
        return Next::end;
    }
    // Nothing matched in this slice; white space between items is allowed, and asks to be pulled again.
    if (out.size() == before) out += ' ';
    return Next::data;
}

Answer array_of(store::Snapshot snapshot, std::string prefix, Render render, std::size_t stream_from) {
    auto stream = std::make_unique<RecordStream>(std::move(snapshot), std::move(prefix), std::move(render));
    std::string begun;
    while (stream->pull(begun) != net::StreamBody::Next::end) {
        if (begun.size() < stream_from) continue;
        Answer answer;
        answer.code = 200;
        answer.stream = std::make_unique<Continued>(std::move(begun), std::move(stream));
        return answer;
    }
    return json(200, std::move(begun));
}

}  // namespace fairlead::apiserver::receptor
