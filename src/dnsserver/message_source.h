// The answer to a question that takes more than one message, or more than the hot path can do: a transfer, a signed
// reply. The loops pull its messages one by one, as the client takes them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead::dnsserver {

struct Asker;

class MessageSource {
public:
    virtual ~MessageSource() = default;
    // Replaces `message` by the next one, without its length; false: that was all, and `message` is undefined.
    virtual bool next(std::string& message) = 0;
};

// Answers a packet for which Answerer says Reply::Kind::special; null: no answer is due. Called on the threads of all
// loops at once.
using AnswerSpecial = std::function<std::unique_ptr<MessageSource>(std::string_view packet, const Asker& asker)>;

}  // namespace fairlead::dnsserver
