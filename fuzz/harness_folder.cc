// A reader of uftrace folders with a planted bug, to try the mutator with a reader that takes a path: the folder is unpacked in this
// process. Build commands are in KIT.md. The bug: there is room for four sessions.
#include "harness.h"

#include <array>
#include <fstream>
#include <string>

static size_t read_trace(const std::string &folder)
{
	std::ifstream info(folder + "/info", std::ios::binary), tasks(folder + "/task.txt");
	std::array<std::string, 4> sessions;
	size_t count = 0;
	char magic[8] = {};

	if (!info.read(magic, sizeof(magic)) || std::string(magic, 7) != "Ftrace!")
		return 0;
	for (std::string line; std::getline(tasks, line);)
		if (line.rfind("SESS ", 0) == 0)
			sessions.at(count++) = line; // the bug
	return count;
}

#ifdef COMMAND // the same as a program that is given the folder
int main(int argc, char **argv)
{
	return argc == 2 ? read_trace(argv[1]) == 0 : 2;
}
#else
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *path = tracemend_unpack(data, size);

	if (path)
		(void)read_trace(path);
	tracemend_remove(path);
	return 0;
}
#endif
