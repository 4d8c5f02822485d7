#include "net/intake.h"

namespace fairlead::net {
namespace {

constexpr std::size_t kept_bytes = 16UL * 1024;  // larger buffers are given back between requests

}  // namespace

RequestParser::State Intake::feed(std::string_view fresh) {
    const bool direct = waiting_.empty();
    if (!direct) waiting_.append(fresh);
    const auto taken = parser_.feed(direct ? fresh : std::string_view(waiting_));
    parsed_bytes_ += taken;
    if (direct) {
        waiting_.assign(fresh.substr(taken));
    } else {
        waiting_.erase(0, taken);
    }
    return parser_.state();
}

void Intake::next_request() {
    parser_ = RequestParser(limits_);
    parsed_bytes_ = 0;
    continue_said_ = false;
    if (waiting_.empty() && waiting_.capacity() > kept_bytes) waiting_ = {};
}

void Intake::drop() {
    next_request();
    waiting_ = {};
}

bool Intake::owes_continue() {
    if (continue_said_ || !parser_.expects_continue()) return false;
    return continue_said_ = true;
}

}  // namespace fairlead::net
