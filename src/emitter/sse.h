// Server-sent events (the event stream format of the HTML standard) from bytes as they come. Pure; used by the source
// over a Receptor, and by nobody else. Bounded: an event that is over its limit ends the stream.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace fairlead::emitter {

struct SseEvent {
    std::string id;    // the last one that the stream has named, this event's or an earlier one's
    std::string name;  // "message" if it was not given one
    std::string data;
    bool operator==(const SseEvent&) const = default;
};

class SseParser {
public:
    explicit SseParser(std::size_t max_event_bytes) : max_bytes_(max_event_bytes) {}

    // Hands over each event that these bytes complete; one without data is none. False: a line or an event is over the
    // limit, and nothing after it is read.
    bool add(std::string_view bytes, const std::function<void(SseEvent)>& event);

private:
    bool end_line(const std::function<void(SseEvent)>& event);
    void take_field(std::string_view field, std::string_view value);

    std::size_t max_bytes_;
    std::string line_, id_, name_, data_;
    bool has_data_ = false;
    bool after_cr_ = false;  // a "\n" that follows belongs to the same line end
    bool begun_ = false;     // past a byte order mark
    bool failed_ = false;
};

}  // namespace fairlead::emitter
