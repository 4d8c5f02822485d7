#include "emitter/sse.h"

#include <utility>

namespace fairlead::emitter {

namespace {
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
}

void SseParser::take_field(std::string_view field, std::string_view value) {
    if (field == "event") {
        name_ = value;
    } else if (field == "data") {
        if (has_data_) data_ += '\n';
        data_ += value;
        has_data_ = true;
    } else if (field == "id") {
        if (value.find('\0') == std::string_view::npos) id_ = value;
    }
    // "retry" and what is not known are left: our own backoff decides.
}

bool SseParser::end_line(const std::function<void(SseEvent)>& event) {
    const std::string line = std::exchange(line_, {});
    std::string_view text = line;
    if (!std::exchange(begun_, true) && text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    if (text.empty()) {
        if (has_data_) event({id_, name_.empty() ? "message" : name_, data_});
        name_.clear();
        data_.clear();
        has_data_ = false;
        return true;
    }
    if (text.front() == ':') return true;  // a heartbeat
    const auto colon = text.find(':');
    auto value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    take_field(text.substr(0, colon), value);
    return data_.size() <= max_bytes_;
}

bool SseParser::add(std::string_view bytes, const std::function<void(SseEvent)>& event) {
    while (!failed_ && !bytes.empty()) {
        if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
            bytes.remove_prefix(1);
            continue;
        }
        const auto end = bytes.find_first_of("\r\n");
        const auto part = bytes.substr(0, end);
        if (line_.size() + part.size() > max_bytes_) {
            failed_ = true;
            break;
        }
        line_ += part;
        if (end == std::string_view::npos) break;
        after_cr_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        failed_ = !end_line(event);
    }
    return !failed_;
}

}  // namespace fairlead::emitter
