// Makes a capture in memory, damages it, repairs it in memory, and prints both reports.
//
//     c++ -std=c++17 check.cpp $(pkg-config --cflags --libs libtracemend) -o check
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <tracemend.h>

namespace {

// An object of the library, freed with its function.
template <typename T, void (*Free)(T *)> struct deleter {
	void operator()(T *object) const { Free(object); }
};
using sample = std::unique_ptr<tracemend_sample, deleter<tracemend_sample, tracemend_sample_free>>;
using input = std::unique_ptr<tracemend_input, deleter<tracemend_input, tracemend_close>>;
using report = std::unique_ptr<tracemend_report, deleter<tracemend_report, tracemend_report_free>>;
using mending = std::unique_ptr<struct tracemend_repair, deleter<struct tracemend_repair, tracemend_repair_free>>;
using memory = std::unique_ptr<void, deleter<void, tracemend_free>>;

// The object, or an exception with the library's message.
template <typename Owner, typename T> Owner owned(T *object, const tracemend_error &error)
{
	if (!object)
		throw std::runtime_error(error.message);
	return Owner(object);
}

void check(tracemend_input *of)
{
	tracemend_error error{};
	auto made = owned<report>(tracemend_check(of, nullptr, &error), error);
	struct tracemend_print print{};
	print.size = sizeof(print);
	print.format = "concise";
	const tracemend_report *const all[] = { made.get() };
	if (tracemend_print(stdout, all, 1, &print, &error) != TM_OK)
		throw std::runtime_error(error.message);
	std::printf("%llu errors\n", static_cast<unsigned long long>(tracemend_report_summary(made.get())->errors));
}

} // namespace

int main()
try {
	tracemend_error error{};
	tracemend_recipe recipe{};
	recipe.struct_size = sizeof(recipe);
	recipe.format = "fxt";
	recipe.damage = TM_DAMAGE_HOLE;
	recipe.seed = 56;
	recipe.size = 12000;
	auto damaged = owned<sample>(tracemend_generate(&recipe, &error), error);
	auto opened = owned<input>(tracemend_open_sample(damaged.get(), nullptr, &error), error);
	check(opened.get());
	auto mended = owned<mending>(tracemend_repair(opened.get(), nullptr, &error), error);
	size_t size = 0;
	auto bytes = owned<memory>(tracemend_repair_bytes(mended.get(), 0, &size, &error), error);
	auto again = owned<input>(tracemend_open_memory("mended.fxt", bytes.get(), size, nullptr, &error), error);
	check(again.get());
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "%s\n", e.what());
	return 1;
}
