/**
 * Words that most prompts of coding sessions contain, whatever they are about. A skill that matches only these is probably not meant.
 * Endings such as `-ed` and `-ing` are matched too.
 */
const ENGLISH = `add answer app array async await bad blank blue book branch break broke broken bug build button callback change chang check
class clean clear close code codebase column comment commit compare compile complete conflict continue convert copy correct crash creat create
debug declare default define delet delete dependency dependencies describe diff difference different directory doc docstring done edit empty end
error example exception execut execute exist exit expect explain export fail failure false fast faster feature field file find finish first fix flag
folder follow format function git github good great handle handler happen hello idea ignore implement implementation import improve input install
issue joke json keep last leave library line lint list load local log logger long loop main map master mean merg merge message method mistake missing
module morning mov move name nest new next night nice null number object old open option order output package parameter part pass paste path piece
place plan point print problem proceed process project promise property pull push python question quick read readable readme recommend redo refactor
remov remove renam rename repeat replac replace repo request reset resolv resolve response rest restart result return revert review rewrite rewritten
right run same sav save script search second send server set setup short shorter show simple simplify slow small sort source space split start state
step stop string structure style suggest summariz summarize summary switch syntax tab task test text thing time today tool top true tuple typ type
typescript javascript undefined understand undo unit unus unused updat update upgrade user value var variable verbose version wait warning weather
word work write writ wrong wrote year yesterday tomorrow
a am are can do how i is it me my of that the this to what who why you your`;

const CHINESE = `继续 修复 修改 改成 改一下 改个 测试 代码 函数 变量 文件 报错 错误 失败 提交 信息 撤销 重新 运行 删除 注释 名字 解释 简洁 项目
结构 目录 返回 方法 类型 参数 合并 冲突 格式化 格式 单元测试 添加 加上 加一个 写一个 写一下 重写 换一种 写法 补全 判断 检查 看看 看一下 先看
结果 总结 说明 天气 今天 明天 谢谢 你好 没用 问题 优化 调试 日志 分支 推送 拉取 安装 依赖 启动 服务器 构建 编译 版本 更新 升级 循环 数组 字符串 对象
意思 笑话 步骤 下一步 空值 一样 同样 列出 打开 查看 保存 复制 移动 重命名 实现 功能 接口 模块 重构 简单 编写 生成 创建 新建 处理 整理 刚才`;

const ASCII = /^[\0-\x7f]*$/;
const ENDINGS = ['', 's', 'es', 'd', 'ed', 'ing'];
/** `running` has one more than `run`. */
const DOUBLED = 'bglmnprt';

const everyday = new Set(ENGLISH.split(/\s+/));

/** The request without everyday words. */
export function withoutEverydayWords(request: string): string {
  const replace = (word: string): string => (isEveryday(word) ? ' ' : word);
  // The pattern for other text takes a millisecond to compile.
  if (ASCII.test(request)) return request.replaceAll(/[A-Za-z\d]+/g, replace);
  const text = request.replaceAll(/[\p{L}\d]+/gu, replace);
  return /\p{Script=Han}/u.test(text) ? text.replaceAll(chinesePattern(), '，') : text;
}

function isEveryday(word: string): boolean {
  const whole = word.toLowerCase();
  return ENDINGS.some((ending) => {
    const base = whole.slice(0, whole.length - ending.length);
    return (
      whole.endsWith(ending) &&
      (everyday.has(base) || (DOUBLED.includes(base.slice(-1)) && everyday.has(base.slice(0, -1))))
    );
  });
}

/** The longest first, because an alternation takes the first that matches. */
function chinesePattern(): RegExp {
  const words = CHINESE.split(/\s+/).toSorted((left, right) => right.length - left.length);
  return new RegExp(words.join('|'), 'gu');
}
