#include "simulation/emitter_receptor.h"

#include <fmt/core.h>

#include <algorithm>

namespace fairlead::simulation {

using namespace std::chrono_literals;

bool Agenda::run_one() {
    if (tasks_.empty() || tasks_.begin()->first > clock_.monotonic()) return false;
    auto task = tasks_.extract(tasks_.begin());
    task.mapped()();
    return true;
}

std::optional<MonotonicTime> Agenda::due() const {
    return tasks_.empty() ? std::nullopt : std::optional(tasks_.begin()->first);
}

class SimReceptor::Call final : public cluster::Call {
public:
    explicit Call(std::function<void()> end) : end_(std::move(end)) {}
    ~Call() override { end_(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

private:
    std::function<void()> end_;
};

class SimReceptor::Link final : public emitter::ReceptorLink {
public:
    Link(SimReceptor& receptor, std::string who, Knowledge& knowledge)
        : receptor_(receptor), who_(std::move(who)), knowledge_(knowledge) {}
    std::unique_ptr<cluster::Call> get(const std::string& path, emitter::AnswerEars ears) override {
        if (path.starts_with("/v1/desired_lrps")) reading_ = std::make_shared<Reading>();  // the first of the parts
        auto silenced = std::make_shared<bool>(false);
        receptor_.get({who_, path, silenced, reading_, &knowledge_, std::move(ears)});
        return std::make_unique<Call>([silenced] { *silenced = true; });
    }
    std::unique_ptr<cluster::Call> stream(const std::string&, const std::string&, emitter::StreamEars ears) override {
        auto stream = std::make_shared<Stream>();
        stream->who = who_;
        stream->last = receptor_.clock_.monotonic();
        stream->knowledge = &knowledge_;
        stream->ears = std::move(ears);
        auto& receptor = receptor_;
        receptor.agenda_.in(std::chrono::milliseconds(receptor.dice_.between(1, 300)), [&receptor, stream] {
            if (!stream->open) return;
            if (receptor.cut_.contains(stream->who) || (receptor.faulty && receptor.dice_.chance(50))) {
                stream->open = false;
                return stream->ears.ended({Errc::unavailable, {}, "connection refused"});
            }
            receptor.streams_.push_back(stream);
            stream->ears.opened();
        });
        return std::make_unique<Call>([stream] {
            stream->open = false;
            stream->silenced = true;
        });
    }

private:
    SimReceptor& receptor_;
    std::string who_;
    Knowledge& knowledge_;
    std::shared_ptr<Reading> reading_;
};

std::unique_ptr<emitter::ReceptorLink> SimReceptor::link(const std::string& who, Knowledge& knowledge) {
    return std::make_unique<Link>(*this, who, knowledge);
}

// As a Receptor shows them: one record per index.
std::string SimReceptor::answer(const Question& question) const {
    json::Array out;
    if (question.path.starts_with("/v1/desired_lrps")) {
        question.reading->processes = truth_.changes();
        for (const auto& [guid, process] : truth_.processes) out.push_back(LrpTruth::desired(process));
    } else if (question.path.starts_with("/v1/actual_lrps")) {
        question.reading->instances = truth_.changes();
        for (const auto& [key, instance] : truth_.instances) {
            const auto& [guid, index, evacuating] = key;
            const auto twin = truth_.instances.find({guid, index, !evacuating});
            const auto& ordinary = evacuating ? (twin != truth_.instances.end() ? &twin->second : nullptr) : &instance;
            const bool ordinary_shown = ordinary != nullptr && (ordinary->running() || ordinary->state == "CRASHED" ||
                                                                (!evacuating && twin == truth_.instances.end()));
            if (ordinary_shown != evacuating) {
                out.push_back(LrpTruth::actual(instance));
            } else {
                question.reading->hidden.there.insert(instance.epoch);
            }
            if (!evacuating && (instance.running() || instance.state == "CRASHED")) {
                question.reading->hidden.gone.merge(truth_.former_twins(guid, index));
            }
        }
    } else {
        out.emplace_back("apps");
    }
    return json::serialize(out);
}

void SimReceptor::get(const Question& question) {
    const auto slow = std::chrono::milliseconds(dice_.between(1, dice_.chance(100) ? 3'000 : 200));
    const bool fails = faulty && dice_.chance(80);
    const bool never = faulty && dice_.chance(10);
    if (fails || never) ++report_.failed_reads;
    if (never) return;
    agenda_.in(slow / 2, [this, question, slow, fails] {
        const bool refused = fails || cut_.contains(question.who);
        auto text = refused ? std::string() : answer(question);
        // In two pieces, so that events come between them.
        agenda_.in(slow / 3, [question, piece = text.substr(0, text.size() / 2)] {
            if (!*question.silenced && !piece.empty()) question.ears.bytes(piece);
        });
        agenda_.in(slow / 2, [question, refused, text = text.substr(text.size() / 2)] {
            if (*question.silenced) return;
            if (refused) return question.ears.ended(fail(Errc::unavailable, "HTTP 500"));
            auto& reading = *question.reading;
            if (++reading.parts == 3) {
                question.knowledge->read(RecordKind::process, reading.processes);
                question.knowledge->read(RecordKind::instance, reading.instances, reading.hidden);
            }
            question.ears.bytes(text);
            question.ears.ended({});
        });
    });
}

void SimReceptor::send(const std::shared_ptr<Stream>& stream, const std::string& text, const News& news) {
    const auto now = clock_.monotonic();
    auto at = now + std::chrono::milliseconds(dice_.between(1, 50));
    const bool reordered = faulty && loses > 0 && dice_.chance(100);
    if (reordered) {
        at += std::chrono::milliseconds(dice_.below(1'500));
    } else {
        at = stream->last = std::max(stream->last, at);
    }
    agenda_.in(at - now, [stream, text, news] {
        if (!stream->open) return;
        stream->knowledge->told(news.record, news.number);
        stream->ears.bytes(text);
    });
}

void SimReceptor::tell(const std::string& name, const json::Object& data, const News& news) {
    for (const auto& stream : streams_) {
        if (!stream->open) continue;
        if (faulty && dice_.chance(loses)) {
            ++report_.lost;
            continue;
        }
        const auto text = fmt::format("id: {}\nevent: {}\ndata: {}\n\n", stream->number++, name, json::serialize(data));
        send(stream, text, news);
        if (faulty && dice_.chance(30)) {
            ++report_.doubled;
            send(stream, text, news);
        }
    }
}

void SimReceptor::break_streams(const std::string& who) {
    for (const auto& stream : streams_) {
        if (stream->who != who || !stream->open) continue;
        ++report_.broken;
        stream->open = false;
        agenda_.in(1ms, [stream] {
            if (!stream->silenced) stream->ears.ended({Errc::unavailable, {}, "connection reset"});
        });
    }
    std::erase_if(streams_, [](const auto& stream) { return !stream->open; });
}

void SimReceptor::cut(const std::string& who, bool is) {
    if (!is) {
        cut_.erase(who);
        return;
    }
    cut_.insert(who);
    break_streams(who);
}

}  // namespace fairlead::simulation
